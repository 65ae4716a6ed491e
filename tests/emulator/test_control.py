"""The control over HTTP: all that a suite in another language needs."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from bare_client import NOW
from sitestats.emulator import Emulator

STATS = "/example.com.json?version=6&info=false&fields="
HOSTNAME = {"hostname": "example.com"}


def control(http: httpx.Client, name: str, body: object = None) -> Any:
    """The data of a call that is done."""
    response = http.post(f"/-/{name}", json={} if body is None else body)
    assert response.status_code == 200, response.text
    assert "access-control-allow-origin" not in response.headers
    return response.json()


def refused(http: httpx.Client, name: str, body: object) -> str:
    """The message of a call that is refused."""
    response = http.post(f"/-/{name}", json=body)
    assert (response.status_code, response.json()["ok"]) == (400, False)
    error: str = response.json()["error"]
    return error


def test_a_suite_prepares_its_data(emulator: Emulator, http: httpx.Client) -> None:
    """Websites, rows and the day are set, as they are in Python."""
    control(http, "reset", {"now": "2026-03-15T12:30:00Z"})
    assert emulator.websites == ()
    added = {"timezone": "Asia/Tokyo", "public": True, "label": "shop"}
    others = [{"hostname": "a.example"}, {"hostname": "b.example"}]
    control(http, "websites", HOSTNAME | added)
    names = ["example.com", "a.example", "b.example"]
    assert control(http, "websites", others)["websites"] == names
    rows = [{"path": "/a", "is_unique": True}, {"path": "/b", "is_robot": True}]
    loaded = control(http, "load", {"rows": rows, **HOSTNAME})
    assert loaded == {"ok": True, "rows": 1, "robots": 1, "left_out": []}
    control(http, "load", [HOSTNAME | {"path": "/a", "session_id": "x"}])
    data = http.get(f"{STATS}pages,visitors").json()
    pages = [{"value": "/a", "pageviews": 2, "visitors": 1}]
    assert (data["pages"], data["timezone"]) == (pages, "Asia/Tokyo")
    [website, *_] = http.get("/-/websites").json()
    assert website.items() >= (HOSTNAME | added).items()


def test_a_suite_loads_a_file(emulator: Emulator, http: httpx.Client) -> None:
    """The content of a CSV file is loaded, compressed or not."""
    table = io.StringIO()
    csv.writer(table).writerows([["path", "uuid"], ["/", "1"], ["/", "2"]])
    content = table.getvalue().encode()
    for body in (content, gzip.compress(content)):
        response = http.post("/-/load?hostname=new.example", content=body)
        assert (response.json()["rows"], response.json()["left_out"]) == (2, ["uuid"])
    path = "/new.example.json?version=6&fields=pageviews"
    assert http.get(path).json()["pageviews"] == 4


def test_the_clock_is_moved(emulator: Emulator, http: httpx.Client) -> None:
    """A suite chooses the day, and gives it back to the clock."""
    assert control(http, "clock", {"now": "2031-05-01T00:00:00+02:00"})["now"]
    assert (
        http.get(f"{STATS}pageviews&start=today").json()["start"][:10] == "2031-04-30"
    )
    control(http, "clock", {"now": None})
    assert emulator.now is None


def test_websites_and_keys_are_changed(emulator: Emulator, http: httpx.Client) -> None:
    """A suite locks and removes websites, and adds keys."""
    control(http, "change_website", HOSTNAME | {"locked": True})
    assert http.get(f"{STATS}pageviews").status_code == 423
    key = control(http, "add_key")["key"]
    headers = {"Api-Key": key}
    assert http.get(f"{STATS}pageviews", headers=headers).status_code == 403
    control(http, "remove_website", HOSTNAME)
    assert http.get(f"{STATS}pageviews").status_code == 404


def test_a_reset_is_a_new_emulator(emulator: Emulator, http: httpx.Client) -> None:
    """Nothing is left but the key, and settings are those of the constructor."""
    emulator.fail_next(None, status=500)
    emulator.load([HOSTNAME])
    key = emulator.api_key
    about = control(http, "reset", {"role": "viewer", "bare_list": True})
    assert (about["api_key"], about["websites"]) == (key, [])
    assert (emulator.requests, emulator.api_key) == ((), key)
    assert http.get("/api/websites").json() == []
    new = {"hostname": "new.example"}
    assert http.post("/api/websites/add", json=new).status_code == 400
    assert control(http, "reset", {"demo": True})["websites"][0] == "semicomplete.com"
    made_up = {"made_up": 2, "days": 2, "visitors_return": True}
    assert len(control(http, "reset", made_up)["websites"]) == 2
    own = {"api_key": "mine", "user_id": "me"}
    assert control(http, "reset", own).items() >= own.items()
    assert emulator.api_key == "mine"


def test_what_came_is_read(emulator: Emulator, http: httpx.Client) -> None:
    """The requests of the service are recorded, and none of the control, which is never
    late and never fails.
    """
    emulator.fail_next(None, latency=0.001)
    fault = {"status": 429, "retry_after": 7, "path": "/example.com.json"}
    assert control(http, "fail_next", fault) == {"ok": True}
    for status in (429, 200):
        response = http.get(f"{STATS}pageviews", headers={"x-mine": "x"})
        assert response.status_code == status
    first, second = http.get("/-/requests").json()
    assert first["path"] == second["path"] == "/example.com.json"
    assert (first["method"], first["params"]["fields"]) == ("GET", "pageviews")
    assert first["headers"]["x-mine"] == "x"
    control(http, "forget_requests")
    assert http.get("/-/requests").json() == []
    about = http.get("/-/").json()
    assert about["websites"] == ["example.com"]
    assert about["now"] == NOW.isoformat()


WRONG: list[tuple[str, object, str]] = [
    ("websites", {"host": "a.example"}, "did you mean 'hostname'"),
    ("websites", {"public": True}, "missing a required argument: 'hostname'"),
    ("websites", {"rows": 7}, "not iterable"),
    ("websites", ["a.example"], "give a JSON object, not"),
    ("websites", [{"hostname": "a.example"}, HOSTNAME], "already exists"),
    ("websites", {"hostname": "a.example", "public": "no"}, "True or False"),
    ("change_website", HOSTNAME | {"lockd": True}, "did you mean 'locked'"),
    ("load", {"path": "/"}, "'path' is not an argument: use rows, hostname"),
    ("load", {"rows": "/etc/rows.csv"}, "rows must be a list of JSON objects"),
    ("load", ["a"], "not a mapping"),
    ("clock", {"now": "2026-03-15T12:00:00"}, "now needs a time zone"),
    ("reset", {"rolle": "owner"}, "did you mean 'role'"),
    ("reset", {"demo": "no"}, "demo must be True or False"),
    ("reset", {"demo": True, "days": 3}, "'days' is not a setting: use"),
    ("reset", {"days": 3}, "'days' is not a setting: use"),
    ("reset", {"made_up": 0}, "websites must be 1 to"),
    ("fail_next", {"status": 500, "when": "now"}, "when must be a function"),
    ("fail_next", [], "give a JSON object, not []"),
    ("stop", {"base_url": "http://127.0.0.1:1"}, "no emulator was started on port 1"),
    ("forget_requests", {"all": True}, "'all' is not an argument: leave it out"),
    ("website", {}, "did you mean 'websites'"),
    ("xyz", {}, "'xyz' is not a path below /-/: use websites, "),
]


def test_what_is_wrong_changes_nothing(emulator: Emulator, http: httpx.Client) -> None:
    """A mistake is refused with what to write; a part of a list is not kept."""
    for name, body, message in WRONG:
        assert message in refused(http, name, body), (name, body)
    for content in (b"{", b"\xff", b"[" * 100_000):
        response = http.post("/-/websites", content=content)
        assert response.json()["error"].startswith("the body is not JSON")
    response = http.get("/-/fail_next")
    assert response.json()["error"] == "/-/fail_next takes POST, not GET"
    response = http.post("/-/load?host=a.example", content=b"path\n/\n")
    assert "did you mean 'hostname'" in response.json()["error"]
    assert emulator.websites == ("example.com",)
    assert emulator.requests == ()
    assert http.get(f"{STATS}pageviews").status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-origin"},
    ],
)
def test_a_page_in_a_browser_does_not_control_it(
    emulator: Emulator, http: httpx.Client, header: dict[str, str]
) -> None:
    """What a web page sends is refused, and what it asks before is not allowed."""
    for method in ("POST", "GET", "OPTIONS"):
        response = http.request(method, "/-/reset", headers=header)
        assert response.status_code == 403
        assert not [name for name in response.headers if "access-control" in name]
    assert emulator.websites == ("example.com",)
    # An address that is typed is not a page.
    typed = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    assert http.get("/-/requests", headers=typed).json() == []


# -- beside each other


@pytest.fixture
def served(emulator: Emulator) -> Iterator[httpx.Client]:
    """A client of the emulator on a socket."""
    with (
        emulator.serve() as address,
        httpx.Client(base_url=address, trust_env=False) as client,
    ):
        yield client


def test_tests_beside_each_other_do_not_meet(served: httpx.Client) -> None:
    """Each test starts an emulator with its own websites, key, failures and clock."""

    def run(number: int) -> tuple[int, int, int]:
        about = control(served, "emulators", {"now": f"20{number}-03-15T00:00:00Z"})
        headers = {"Api-Key": about["api_key"]}
        address = about["base_url"]
        with httpx.Client(base_url=address, headers=headers, trust_env=False) as own:
            rows = [HOSTNAME for _ in range(number)]
            control(own, "load", rows)
            control(own, "fail_next", {"status": 503})
            failed = own.get(f"{STATS}pageviews").status_code
            data = own.get(f"{STATS}pageviews").json()
            sent = len(own.get("/-/requests").json())
        control(served, "stop", {"base_url": address})
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/-/", trust_env=False)
        return failed, data["pageviews"], sent

    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(run, range(20, 28))]
    assert found == [(503, number, 2) for number in range(20, 28)]
    assert served.get("/-/requests").json() == []


def test_they_end_with_the_first_one(emulator: Emulator) -> None:
    """An emulator that a test forgot to stop, and what that one started, ends."""
    with emulator.serve() as address:
        with httpx.Client(base_url=address, trust_env=False) as client:
            first = control(client, "emulators")["base_url"]
        with httpx.Client(base_url=first, trust_env=False) as client:
            second = control(client, "emulators")["base_url"]
            assert client.get("/-/").is_success
    for ended in (first, second):
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{ended}/-/", trust_env=False)


def test_without_a_socket_there_is_none_beside() -> None:
    """In one process, a test makes another emulator in Python."""
    emulator = Emulator()
    with httpx.Client(transport=emulator.transport(), base_url="http://x") as client:
        assert "on a socket" in refused(client, "emulators", {})
