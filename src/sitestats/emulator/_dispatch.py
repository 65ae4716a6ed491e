"""Handle one request: record it, apply the next simulated failure, respond."""

from __future__ import annotations

from collections import deque
from email.utils import formatdate
from typing import Final

import attrs

from sitestats._common.wire import HttpResponse

from ._faults import Fault, Faults
from ._http import RecordedRequest
from ._rows import running
from ._service import Service

MOST_RECORDED: Final = 10_000
"""The most recorded requests; the oldest are dropped."""

_NO_FAULT: Final = Fault()


@attrs.frozen
class Reply:
    """A response, and how its delivery fails."""

    response: HttpResponse
    fault: Fault


@attrs.frozen
class Core:
    """The emulator behind both transports, the socket and the in-process one."""

    service: Service
    faults: Faults = attrs.field(factory=Faults)
    requests: deque[RecordedRequest] = attrs.field(
        factory=lambda: deque[RecordedRequest](maxlen=MOST_RECORDED)
    )

    def handle(self, request: RecordedRequest) -> Reply:
        """Respond to one request. Safe to call from many threads."""
        self.requests.append(request)
        fault = self.faults.take(request) or _NO_FAULT
        with running():
            response = fault.respond(request, self.service.respond)
        return Reply(self._dated(response), fault)

    def _dated(self, response: HttpResponse) -> HttpResponse:
        # By the emulator's clock: clients derive from it which hours are over.
        date = formatdate(self.service.now().timestamp(), usegmt=True)
        return attrs.evolve(response, headers={"date": date, **response.headers})
