"""The comparison of a service with the emulator: what differs is found by its case."""

from __future__ import annotations

import json
from typing import Any, Final

import httpx
import pytest

from changed_services import CHANGES, Changed, ChangedTransport
from sitestats import Client, NotFoundError
from sitestats.conformance import ServiceComparison, compare_service
from sitestats.emulator import Emulator

pytestmark = [pytest.mark.once, pytest.mark.slow]

HOST: Final = "shop.example"
PUBLIC: Final = "blog.example"


def made_up(**options: Any) -> Emulator:
    """A service with a private and a public website, and two weeks of traffic."""
    emulator = Emulator.made_up(2, days=14, **options)
    emulator.change_website(PUBLIC, public=True)
    return emulator


@pytest.fixture(scope="module")
def service() -> Emulator:
    """A service that does as the emulator does."""
    return made_up()


def client_of(
    emulator: Emulator, transport: httpx.BaseTransport | None = None
) -> Client:
    """A client of the service, which may be changed."""
    return Client(
        "http://emulator.test",
        api_key=emulator.api_key,
        user_id=emulator.user_id,
        proxy=None,
        transport=transport or emulator.transport(),
    )


def results(comparison: ServiceComparison) -> dict[str, str]:
    """The result of each case."""
    return {case.name: case.result for case in comparison.cases}


def test_there_are_twenty_changes() -> None:
    """Each is one, and each has another name."""
    assert len({change.name for change in CHANGES}) == len(CHANGES) >= 20


@pytest.mark.parametrize("host", [HOST, PUBLIC])
def test_nothing_is_found_in_what_was_not_changed(service: Emulator, host: str) -> None:
    """Other websites, other traffic and another zone are no differences."""
    service.forget_requests()
    with client_of(service) as client:
        comparison = compare_service(client, host, pause=0)
    assert comparison.different == ()
    assert not comparison.options
    undecided = {n for n, result in results(comparison).items() if result != "same"}
    assert undecided <= {"locked", "utm"}
    assert {request.method for request in service.requests} == {"GET"}
    assert comparison.requests == len(service.requests) <= 60


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change_is_found_by_its_case(service: Emulator, change: Changed) -> None:
    """Each difference is named, and what an option makes the emulator follow."""
    options = {change.option: True} if change.option else {}
    emulator = made_up(**options) if options else service
    emulator.change_website(HOST, locked=change.case == "locked")
    transport = ChangedTransport(emulator.transport(), change.change)
    with client_of(emulator, transport) as client:
        comparison = compare_service(client, HOST, pause=0)
    emulator.change_website(HOST, locked=False)
    found = {case.name: case for case in comparison.different}
    assert found[change.case].section == change.section
    assert found[change.case].differences
    assert comparison.options == options


@pytest.mark.parametrize(
    ("fault", "sent", "why"),
    [
        ({"status": 429, "retry_after": 60}, 1, "refused further requests (429)"),
        ({"status": 503}, 2, "the service failed (503)"),
        ({"latency": 5.0}, 2, "no complete response came (response)"),
        ({"reset": True}, 2, "no complete response came (response)"),
        ({"cut_off": 10}, 2, "no complete response came (response)"),
    ],
    ids=["limited", "failing", "slow", "reset", "cut off"],
)
def test_what_was_not_compared_is_reported(
    fault: dict[str, Any], sent: int, why: str
) -> None:
    """After a 429, or two failures in a row, nothing more is sent."""
    emulator = made_up()
    emulator.fail_next(None, **fault, when=lambda _request: len(emulator.requests) > 20)
    with emulator.client(timeout=0.2) as client:
        comparison = compare_service(client, HOST, pause=0)
    assert len(emulator.requests) == comparison.requests == 20 + sent
    assert why in comparison.ended
    assert why in str(comparison).splitlines()[-1]
    found = results(comparison)
    assert found["list-envelope"] == found["period"] == "same"
    whys = {case.why for case in comparison.cases if case.result == "not decided"}
    assert f"not sent: {comparison.ended}" in whys
    assert not comparison.different


def test_a_website_without_visits_differs_in_nothing() -> None:
    """A list that is empty decides nothing, even beside days that have totals."""
    emulator = Emulator()
    emulator.add_website(HOST)
    with client_of(emulator) as client:
        comparison = compare_service(client, HOST, pause=0)
    assert comparison.different == ()
    whys = {case.name: case.why for case in comparison.cases}
    assert whys["limit"] == "there are not two pages"
    assert whys["version-1"] == whys["version-4"] == "the lists are empty"
    assert whys["histogram-day"] == ""


def test_one_failure_is_not_the_end() -> None:
    """What comes after it is compared."""
    emulator = made_up()
    emulator.fail_next(
        status=500, when=lambda one: one.params.get("interval") == "week"
    )
    with emulator.client() as client:
        comparison = compare_service(client, HOST, pause=0)
    (case,) = (one for one in comparison.cases if one.name == "histogram-week")
    assert (case.result, case.why) == ("not decided", "the service failed (500)")
    assert not comparison.ended
    assert results(comparison)["histogram-month"] == "same"


def test_without_a_user_id_lists_are_not_decided(service: Emulator) -> None:
    """No other website is known then."""
    with service.client(user_id=None) as client:
        found = results(compare_service(client, HOST, pause=0))
    undecided = {name for name, result in found.items() if result == "not decided"}
    assert {name for name in undecided if name.startswith("list-")} == {
        "list-envelope",
        "list-entries",
        "list-without-key",
        "list-made-up-key",
    }
    assert undecided >= {"public-without-key", "public-with-made-up-key"}
    assert "different" not in found.values()


def test_a_website_that_can_t_be_read_is_an_error(service: Emulator) -> None:
    """Nothing is decided about anything."""
    with service.client() as client, pytest.raises(NotFoundError):
        compare_service(client, "nobody.example", pause=0)


def test_a_report_has_no_secret_and_no_host_name() -> None:
    """It is attached to an issue, which everybody reads; errors repeat names too."""
    emulator = made_up()
    secret = f"{HOST} of ann@corp.example, 12345 views, {emulator.api_key}"
    names = ("error", "message", "path", "start", "code", HOST)
    emulator.fail_next(
        None,
        status=418,
        body={"ok": False, **dict.fromkeys(names, secret)},
        when=lambda _request: len(emulator.requests) > 5,
    )
    emulator.fail_next(
        None, status=200, body={"pageviews": 1, **dict.fromkeys(names[2:], secret)}
    )
    with emulator.client() as client:
        comparison = compare_service(client, HOST, pause=0)
    text = json.dumps(comparison.to_dict(), ensure_ascii=False) + str(comparison)
    assert "HOST of HOST, N views, …" in text
    for word in (HOST, PUBLIC, "corp", "ann@", "12345", emulator.api_key):
        assert word not in text
