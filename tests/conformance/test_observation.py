"""What is requested of the service: in which order, with which pauses, about what."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import pytest

from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._protocol.flow import Flow, Moment, Now, Send, Sleep
from sitestats.conformance._observation import NOT_SENT, Observation, observe
from sitestats.emulator import Emulator

pytestmark = pytest.mark.once

HOST: Final = "shop.example"


def run(
    flow: Flow[Observation],
    responses: dict[str, HttpResponse],
    first: Sequence[HttpResponse] = (),
) -> tuple[Observation, list[HttpRequest], list[float]]:
    """Run a flow without a clock: with these responses, of which some are the first."""
    waiting = [*first]
    sent: list[HttpRequest] = []
    pauses: list[float] = []
    outcome: HttpResponse | Moment | None = None
    while True:
        try:
            step = flow.send(outcome)
        except StopIteration as done:
            return done.value, sent, pauses
        outcome = None
        if isinstance(step, Now):
            outcome = Moment(0.0, 1_770_000_000.0)
        elif isinstance(step, Sleep):
            pauses.append(step.seconds)
        else:
            assert isinstance(step, Send)
            sent.append(step.request)
            other = responses.get(step.request.path, HttpResponse(404, {}, b"{}"))
            outcome = waiting.pop(0) if waiting else other


def observed(
    body: bytes, status: int = 200, websites: bytes = b"[]"
) -> tuple[Observation, list[HttpRequest], list[float]]:
    """What is observed of a service with one response for a website."""
    with Emulator().client() as client:
        responses = {
            f"/{HOST}.json": HttpResponse(status, {}, body),
            "/api/websites": HttpResponse(200, {}, websites),
        }
        return run(observe(client._settings, HOST, 0.25), responses)


def test_a_pause_is_before_each_request_but_the_first() -> None:
    """No request is sent twice, and one at a time."""
    found, sent, pauses = observed(b'{"ok": true, "pageviews": 1}')
    assert pauses == [0.25] * (len(sent) - 1)
    assert len(sent) == len({*sent}) == len(found.responses)
    assert {request.method for request in sent} == {"GET"}


def test_the_first_website_of_each_kind_is_taken() -> None:
    """The one that is named stands for its own kind."""
    names = [("x.example", False), ("y.example", True), ("z.example", True)]
    full = {"has_ssl": True, "has_script": True, "own_hostname": None, "label": ""}
    websites = [
        {**full, "hostname": name, "is_public": is_public, "timezone": "Asia/Tokyo"}
        | {"pageviews": 1, "events": 1}
        for name, is_public in names
    ]
    found, *_ = observed(
        b'{"ok": true, "timezone": "UTC"}', websites=json.dumps(websites).encode()
    )
    # Without a key it has no data, so it is private.
    assert found.hosts["private"] == found.hosts["site"] == HOST
    assert found.hosts["public"] == "y.example"
    assert found.zones["y.example"] == "Asia/Tokyo"
    assert found.zones[HOST] == "UTC"


def test_of_a_locked_website_little_is_requested() -> None:
    """Each of its responses would be the same 423."""
    found, sent, _ = observed(b'{"ok": false, "code": "BADGE_REQUIRED"}', status=423)
    assert "site" not in found.hosts
    assert found.hosts["locked"] == HOST
    assert len(sent) < 12


def test_a_429_of_the_second_request_is_the_end() -> None:
    """The list is not requested either."""
    with Emulator().client() as client:
        flow = observe(client._settings, HOST, 0.25)
        first = HttpResponse(200, {}, b'{"ok": true, "pageviews": 1}')
        many = HttpResponse(429)
        found, sent, _ = run(flow, {}, [first, many])
    assert len(sent) == 2
    texts = [one for one in found.responses.values() if isinstance(one, str)]
    assert len(texts) == len(found.responses) - 1
    assert {text.removeprefix(NOT_SENT) for text in texts} == {texts[0]}
