"""One request through the emulator: noted, answered, with the fault that is due."""

from __future__ import annotations

from collections import deque
from email.utils import formatdate
from typing import Final

import attrs

from sitestats._common.wire import HttpResponse

from ._faults import Faults
from ._http import RecordedRequest
from ._service import Service

KEPT: Final = 10_000
"""Requests that are remembered; a long run forgets its oldest."""


@attrs.frozen
class Reply:
    """An answer, and what happens to it on the way."""

    response: HttpResponse
    latency: float = 0.0
    drip: float = 0.0
    cut_off: int | None = None
    reset: bool = False


@attrs.frozen
class Core:
    """What both transports carry requests to."""

    service: Service
    faults: Faults = attrs.field(factory=Faults)
    requests: deque[RecordedRequest] = attrs.field(
        factory=lambda: deque[RecordedRequest](maxlen=KEPT)
    )

    def handle(self, request: RecordedRequest) -> Reply:
        """Answer one request; may be called by many threads at once."""
        self.requests.append(request)
        fault = self.faults.take(request)
        if fault is None:
            return Reply(self._dated(self.service.answer(request)))
        return Reply(
            self._dated(fault.respond(request, self.service.answer)),
            latency=fault.latency,
            drip=fault.drip,
            cut_off=fault.cut_off,
            reset=fault.reset,
        )

    def _dated(self, response: HttpResponse) -> HttpResponse:
        # By the emulator's own clock: clients tell from it which hours are over.
        date = formatdate(self.service.now().timestamp(), usegmt=True)
        return attrs.evolve(response, headers={"date": date, **response.headers})
