"""Who answers an add, and in which words: what ``ensure`` and ``add`` make of it."""

from __future__ import annotations

from typing import Any

import pytest

from sitestats import BadRequestError, NotTheServiceError, StatusError
from sitestats.emulator import Emulator

NAMES = ["one.example", "two.example", "three.example"]
PAGE = "<html><head><title>Blocked</title></head><body>Sign in: api key</body></html>"


def failing(status: int, body: Any, **more: Any) -> Emulator:
    """A service whose responses to adds are replaced."""
    emulator = Emulator()
    emulator.fail_next(None, status=status, body=body, path="/api/websites/add", **more)
    return emulator


def adds(emulator: Emulator) -> int:
    """How many adds were sent."""
    return sum(request.method == "POST" for request in emulator.requests)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_page_ends_a_run(status: int) -> None:
    """What is on the way would answer for each other website too."""
    emulator = failing(status, PAGE)
    with emulator.client() as client:
        report = client.websites.ensure(NAMES)
    assert [item.state for item in report.items] == ["refused", *["not_tried"] * 2]
    assert isinstance(report.items[0].error, NotTheServiceError)
    assert adds(emulator) == 1


@pytest.mark.parametrize("status", [408, 502, 522])
def test_a_page_of_a_gateway_leaves_it_open(status: int) -> None:
    """The website may have been added before the gateway gave up: the list shows it. An
    add by itself says so, and is not to be repeated.
    """
    emulator = failing(status, PAGE, processed=True)
    with emulator.client() as client:
        report = client.websites.ensure(NAMES)
        assert [item.state for item in report.items] == ["added"] * 3
        with pytest.raises(StatusError, match="may have been done: look") as caught:
            client.websites.add("four.example")
    assert not caught.value.retryable
    assert adds(emulator) == 4


LIMIT = "The limit of your plan is reached"
SHAPES: list[Any] = [
    {"ok": False, "error": {"message": LIMIT}},
    {"success": False, "errors": [{"detail": LIMIT}]},
    {"error": "Bad Request", "message": LIMIT},
    {"errors": {"hostname": [LIMIT]}},
    [LIMIT],
    LIMIT,
]


@pytest.mark.parametrize("body", SHAPES, ids=str)
def test_words_end_a_run_in_any_shape(body: Any) -> None:
    """A plan's limit is the same for every website, wherever the message is."""
    emulator = failing(400, body)
    with emulator.client() as client:
        report = client.websites.ensure(NAMES)
    assert adds(emulator) == 1
    assert LIMIT in str(report.stopped)


def test_words_about_one_website_end_no_run() -> None:
    """Neither does a word of the account that the message repeats of the website."""
    for message in ("plan.example is taken", "The label 'api key' is too long"):
        emulator = failing(400, {"errors": [{"message": message}]})
        with emulator.client() as client:
            report = client.websites.ensure(["plan.example", *NAMES])
        assert adds(emulator) == 4
        assert isinstance(report.items[0].error, BadRequestError)
