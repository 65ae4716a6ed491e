"""The comparison of a service with the emulator: what differs is found by its case."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.changed_services import CHANGES, Changed, ChangedTransport
from conformance.inside import only_case, shape_of
from inside import set_clock_of_clients
from sitestats import Client, NotFoundError
from sitestats.conformance import ServiceComparison, compare_service
from sitestats.emulator import Emulator

pytestmark = pytest.mark.slow

HOST: Final = "shop.example"
PUBLIC: Final = "blog.example"
NOW: Final = datetime(2026, 3, 15, 12, tzinfo=UTC)
PAUSES: Final[list[float]] = []


def made_up(**options: Any) -> Emulator:
    """A service with a private and a public website, and some days of a campaign."""
    emulator = Emulator.made_up(2, days=25, now=NOW, **options)
    emulator.change_website(PUBLIC, public=True)
    return emulator


def empty() -> Emulator:
    """A private website that nobody has visited."""
    emulator = Emulator(now=NOW)
    emulator.add_website(HOST)
    return emulator


def set_clock(monkeypatch: pytest.MonkeyPatch, now: datetime) -> None:
    """Have the clock of clients stand still."""
    set_clock_of_clients(monkeypatch, time=now.timestamp, sleep=PAUSES.append)


@pytest.fixture(autouse=True)
def present(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients have the time of the services."""
    set_clock(monkeypatch, NOW)


@pytest.fixture(scope="module")
def service() -> Emulator:
    """A service that does as the emulator does."""
    return made_up()


def compared(
    emulator: Emulator,
    host: str = HOST,
    change: str = "nothing at-all",
) -> ServiceComparison:
    """Compare a service that may be changed."""
    transport = ChangedTransport(emulator.transport(), change)
    with (
        httpx.Client(transport=transport) as http,
        Client(
            "https://emulator.test",
            api_key=emulator.api_key,
            user_id=emulator.user_id,
            http_client=http,
        ) as client,
    ):
        return compare_service(client, host, pause=0.25)


def results(comparison: ServiceComparison) -> dict[str, str]:
    """The result of each case."""
    return {case.name: case.result for case in comparison.cases}


# -- services that do as the emulator does


@pytest.mark.parametrize("host", [HOST, PUBLIC])
def test_nothing_is_found_in_what_was_not_changed(service: Emulator, host: str) -> None:
    """Some sixty requests read, one at a time, with a pause before each but the first.
    Other traffic is not a difference.
    """
    service.forget_requests()
    PAUSES.clear()
    comparison = compared(service, host)
    assert comparison.different == ()
    assert not comparison.options
    undecided = {n for n, result in results(comparison).items() if result != "same"}
    assert undecided <= {"locked", "utm"}
    assert {request.method for request in service.requests} == {"GET"}
    assert comparison.requests == len(service.requests) <= 65
    assert [0.25] * (comparison.requests - 1) == PAUSES


@pytest.mark.parametrize(
    ("zone", "now", "rows"),
    [
        ("Pacific/Kiritimati", "2026-01-01T11:30:00+00:00", 1),
        ("America/St_Johns", "2026-11-01T10:30:00+00:00", 5),
        ("Asia/Kolkata", "2024-02-29T23:59:59+00:00", 40),
    ],
)
def test_no_false_alarm(
    zone: str, now: str, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another zone, an odd day, and few visits, some without a browser, differ in
    nothing.
    """
    moment = datetime.fromisoformat(now)
    set_clock(monkeypatch, moment)
    emulator = Emulator(now=moment)
    emulator.add_website("few.example", timezone=zone, public=rows % 2 == 0)
    emulator.load(
        {
            "hostname": "few.example",
            "added_iso": moment - timedelta(days=4 + number % 4),
            "path": f"/{number % 7}",
            "is_unique": number % 3 == 0,
            "duration_seconds": 5000 * (number % 2),
            "datapoint": "signup" if number % 5 == 4 else None,
            "country_code": "NL" if number % 4 else None,
            "os_name": "Linux" if number % 6 == 5 else None,
        }
        for number in range(rows)
    )
    comparison = compared(emulator, "few.example")
    assert comparison.different == ()
    assert results(comparison)["pages"] == "same"


@pytest.mark.parametrize("change", ["nothing at-all", "drop timezone"])
def test_what_can_t_be_read_is_unknown(change: str) -> None:
    """A flag is not false, a zone not UTC, a name no error. The rest is compared."""
    emulator = made_up()
    emulator.change_website(HOST, timezone="Europe/Amsterdam")
    site = dict.fromkeys(("timezone", "is_public", "has_ssl", "has_script"))
    sites = [{"hostname": name} | site for name in ("nowhere", HOST, "b.example")]
    emulator.fail_next(None, body=sites, path="/api/websites")
    found = {case.name: case for case in compared(emulator, change=change).cases}
    missing = "there is no public website in the list"
    assert found["public-without-key"].why == missing
    (period,) = {one.where for one in found["period"].differences} or {""}
    assert period == ("$.timezone" if "drop" in change else "")


def test_what_has_no_visits_is_not_decided() -> None:
    """A list that is empty decides nothing, even beside days that have totals."""
    comparison = compared(empty())
    assert comparison.different == ()
    whys = {case.name: case.why for case in comparison.cases}
    assert whys["pages"] == whys["version-4"] == "the lists are empty"
    assert whys["histogram-day"] == ""


# -- services that differ


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(one, id=one.name, marks=() if one.option else pytest.mark.long)
        for one in CHANGES
    ],
)
def test_each_change_is_found_by_its_case(
    service: Emulator, change: Changed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a service does otherwise is named by the case that asks for it, with the
    option that makes the emulator follow. Where no case does, nothing is found.
    """
    if change.case:
        only_case(monkeypatch, change.case)
    if change.option or change.case == "locked":
        service = made_up(**({change.option: True} if change.option else {}))
        service.change_website(HOST, locked=change.case == "locked")
    comparison = compared(service, change=change.change)
    assert [case.name for case in comparison.different] == [
        *filter(None, [change.case])
    ]
    assert comparison.options == ({change.option: True} if change.option else {})


def test_a_difference_is_reported_once_for_its_cause(service: Emulator) -> None:
    """What differs alike in many cases is one difference, with its places, and whether
    the client copes. It stands last, where it is seen in a terminal.
    """
    comparison = compared(service, change="text pageviews")
    *lines, counts = str(comparison).splitlines()
    cause = "✗ pageviews: str, in the emulator int; the client misreads it"
    places = lines[lines.index(cause) + 1]
    assert lines.count(cause) == 1
    assert not lines[lines.index(cause) - 1].startswith("✓")
    assert places.startswith("    $.pageviews in totals, $.pageviews in numbers, ")
    assert " more" in places
    assert " different" in counts
    bare = compared(made_up(bare_list=True))
    assert all(case.copes for case in bare.different)
    assert "; the client copes\n    $" in str(bare)
    assert json.dumps(bare.to_dict())


def test_an_ignored_zone_is_one_difference(service: Emulator) -> None:
    """Other times, and a wrong zone that is not refused, have the same cause. It says
    what that means for you.
    """
    comparison = compared(service, change="ignore timezone")
    (line,) = [one for one in str(comparison).splitlines() if one.startswith("✗")]
    assert line.startswith("✗ timezone: another zone, in the emulator the requested ")
    assert "request no other zone" in line
    names = {"timezone", "timezone-lower-case", "period-summer-time"}
    assert {case.name for case in comparison.different} == names


# -- what can't be compared


@pytest.mark.parametrize(
    ("fault", "sent", "why"),
    [
        ({"status": 429, "retry_after": 60}, 1, "refused further requests (429)"),
        ({"status": 503}, 2, "the service failed (503)"),
        ({"cut_off": 10}, 2, "no complete response came"),
    ],
)
def test_what_was_not_compared_is_reported(
    fault: dict[str, Any], sent: int, why: str
) -> None:
    """After a 429, or two failures in a row, nothing more is sent."""
    emulator = empty()
    emulator.fail_next(None, **fault, when=lambda _request: len(emulator.requests) > 20)
    with emulator.client() as client:
        comparison = compare_service(client, HOST, pause=0)
    assert len(emulator.requests) == comparison.requests == 20 + sent
    assert why in comparison.ended
    assert why in str(comparison).splitlines()[-1]
    found = results(comparison)
    assert found["list-envelope"] == found["period"] == "same"
    whys = {case.why for case in comparison.cases if case.result == "not decided"}
    assert f"not sent: {comparison.ended}" in whys
    assert not comparison.different


def test_one_failure_is_not_the_end() -> None:
    """What comes after it is compared; without a user ID no list is."""
    emulator = empty()
    emulator.fail_next(
        status=500, when=lambda one: one.params.get("interval") == "week"
    )
    with emulator.client(user_id=None) as client:
        comparison = compare_service(client, HOST, pause=0)
    (case,) = (one for one in comparison.cases if one.name == "histogram-week")
    assert comparison.failed == (case,)
    assert (case.result, case.why) == ("failed", "the service failed (500)")
    assert not comparison.ended
    found = results(comparison)
    assert found["histogram-month"] == "same"
    assert found["list-envelope"] == found["public-without-key"] == "not decided"
    assert "different" not in found.values()


def test_a_website_that_can_t_be_read_is_an_error(service: Emulator) -> None:
    """Nothing is decided about anything; of a locked one little is requested."""
    with service.client() as client, pytest.raises(NotFoundError):
        compare_service(client, "nobody.example", pause=0)
    locked = Emulator(now=NOW)
    locked.add_website("locked.example", locked=True)
    comparison = compared(locked, "locked.example")
    assert comparison.requests < 12
    assert results(comparison)["locked"] == "same"


def test_a_report_has_no_secret_and_no_host_name() -> None:
    """It is attached to an issue, which everybody reads; errors repeat names too."""
    emulator = made_up()
    secret = f"{HOST} of ann@corp.example, 12345 views, \x1b[2J {emulator.api_key}"
    names = ("error", "message", "path", "start", "code", "date", HOST)
    emulator.fail_next(
        None,
        status=418,
        body={"ok": False, **dict.fromkeys(names, secret)},
        when=lambda _request: len(emulator.requests) > 5,
    )
    body: dict[str, Any] = {"pageviews": 1, **dict.fromkeys(names[2:], secret)}
    body["histogram"] = [{"date": secret, "pageviews": 12345}]
    emulator.fail_next(None, status=200, body=body)
    comparison = compared(emulator)
    text = json.dumps(comparison.to_dict(), ensure_ascii=False) + str(comparison)
    assert "HOST of HOST, N views, \\x1b[2J …" in str(comparison)
    for word in (HOST, PUBLIC, "corp", "ann@", "12345", emulator.api_key):
        assert word not in text


JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.text() | st.sampled_from(["histogram", "pages", "date", "visits"]), inner
        )
    ),
    max_leaves=20,
)


@given(JSON.map(json.dumps).map(str.encode) | st.binary())
@example(b"show(" * 20_000)
@example(b"[" * 100_000)
def test_any_body_has_a_shape(body: bytes) -> None:
    """The service may send anything, and a long body is read once."""
    assert shape_of(body)
