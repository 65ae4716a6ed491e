"""Which websites a command is about: its arguments, a list, or all."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from commands import rows_of
from sitestats import StatsQuery

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Run
    from sitestats.emulator import Emulator

HOST = "semicomplete.com"
BLOG = "blog.semicomplete.com"
LAST = ("--last", "4", "-f", "visitors")


def test_all_websites(emulator: Emulator, run: Run) -> None:
    """--all is every website of the user, by default with page views and visitors."""
    done = run("stats", "--all", "--last", 4, "--format", "jsonl")
    lines = [json.loads(line) for line in done.out.splitlines()]
    listed = json.loads(run("websites", "list", "--format", "json").out)
    assert [line["hostname"] for line in lines] == [one["hostname"] for one in listed]
    assert lines[0]["visitors"] == 953
    assert {"timezone", "first_day", "last_day", "pageviews"} <= lines[0].keys()
    whole = json.loads(run("stats", "--all", "--last", 4, "--format", "json").out)
    assert [one["visitors"] for one in whole] == [one["visitors"] for one in lines]


def test_a_user_without_websites(emulator: Emulator, run: Run) -> None:
    """Without websites there is a note, and CSV has its first line alone."""
    emulator._core.service.websites = {}
    done = run("stats", "--all", *LAST, "--format", "csv")
    assert done.code == 0
    assert len(done.out.splitlines()) == 1
    assert done.err == "sitestats: the user has no websites\n"


@pytest.mark.parametrize("file", ["hosts.txt", "-"])
def test_websites_of_a_list(
    emulator: Emulator,
    run: Run,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """--hosts-from reads a file or standard input; what is named twice is requested
    once, with a warning.
    """
    data = f"# ours\n{BLOG}\n{HOST}.\n{BLOG}\n".encode()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hosts.txt").write_bytes(data)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    done = run("stats", HOST, "--hosts-from", file, *LAST, "--format", "csv")
    assert [row["hostname"] for row in rows_of(done.out)] == [HOST, BLOG]
    assert done.err == (
        "sitestats: warning: 2 websites are given more than once, and requested once\n"
    )
    assert len(emulator.requests) == 2


@pytest.fixture
def far_away(emulator: Emulator) -> str:
    """A website whose day is nearly always another one than that of UTC."""
    emulator.add_website("far.example", timezone="Pacific/Kiritimati")
    return "far.example"


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_a_word_is_days_in_the_zone_of_each_website(
    emulator: Emulator, run: Run, far_away: str, command: str, tmp_path: Path
) -> None:
    """`--during last-month` needs no zone: it is that of the service's list, for one
    website, several, a list and all, also when it is split; or that of --timezone.
    """
    (tmp_path / "hosts.txt").write_text(far_away)
    listed = ("--hosts-from", tmp_path / "hosts.txt")
    query = StatsQuery(far_away).during("this-year")

    def requested(*options: object) -> list[tuple[str, str]]:
        emulator.forget_requests()
        done = run(command, *options, "-f", "visitors", "--format", "csv")
        assert (done.code, done.err) == (0, "")
        queries = [dict(request.params) for request in emulator.requests]
        assert all("timezone" not in params for params in queries)
        return [
            (params["start"], params["end"])
            for request, params in zip(emulator.requests, queries, strict=True)
            if request.path == f"/{far_away}.json"
        ]

    for hosts in ([far_away], [HOST, far_away], listed, ["--all"]):
        here = query.pinned("Pacific/Kiritimati").params()
        assert (here["start"], here["end"]) in requested(
            *hosts, "--during", "this-year"
        )
        assert len(emulator.requests) > len(requested(*hosts, "--on", "today"))
    if command == "stats":
        months = requested(far_away, "--during", "last-quarter", "--each", "month")
        assert len(months) == 3
        assert len(requested(*listed, "--last", 60, "--each", "month")) in {2, 3}
    emulator.forget_requests()
    done = run(command, far_away, "--during", "last-year", "--timezone", "UTC")
    assert done.code == 0
    assert {request.path for request in emulator.requests} == {f"/{far_away}.json"}


def test_a_word_for_a_website_that_is_not_listed(emulator: Emulator, run: Run) -> None:
    """Where nobody knows the zone, the option that gives it is named; nothing is
    requested of the website.
    """
    done = run("stats", "other.example", "--during", "last-month")
    assert done.code == 2
    assert "other.example is not in the list of websites" in done.err
    assert "give --timezone" in done.err
    assert [request.path for request in emulator.requests] == ["/api/websites"]
    done = run("url", HOST, "--during", "last-month")
    assert (done.code, "add --timezone …" in done.err) == (2, True)


def test_a_saved_list_is_a_list(emulator: Emulator, run: Run, tmp_path: Path) -> None:
    """What `websites list` prints, and what `plan` reads, is a list of host names."""
    for name, form in (("a.csv", ["csv", "--raw"]), ("b.json", ["json"])):
        listed = run("websites", "list", "--format", *form).out
        (tmp_path / name).write_text(listed, "utf-8")
        done = run("stats", "--hosts-from", tmp_path / name, *LAST, "--format", "csv")
        assert [row["hostname"] for row in rows_of(done.out)][:2] == [HOST, BLOG]


def test_a_host_of_a_list_that_is_none(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """Each line that is no host name is an error with its place; nothing is sent."""
    (tmp_path / "x.txt").write_text(f"{HOST}\nno host\n{BLOG}\n-x\n", "utf-8")
    done = run("stats", "--hosts-from", tmp_path / "x.txt", "--limit", "0")
    assert done.code == 2
    second, fourth, limit = done.err.splitlines()
    assert f"{tmp_path / 'x.txt'}:2: 'no host' has" in second
    assert f"{tmp_path / 'x.txt'}:4: " in fourth
    assert "--limit" in limit
    assert emulator.requests == ()


def test_addresses_of_dashboards_are_websites_too(emulator: Emulator, run: Run) -> None:
    """Addresses keep their filters, beside host names."""
    address = f"https://elsewhere.example/{HOST}?country=NL"
    done = run("stats", address, HOST, *LAST, "--format", "csv")
    few, all_of_them = rows_of(done.out)
    assert int(few["visitors"]) < int(all_of_them["visitors"])


@pytest.mark.parametrize("command", ["stats", "compare"])
def test_a_listed_website_of_which_no_query_is_possible(
    emulator: Emulator, run: Run, command: str
) -> None:
    """A listed name or zone that no query takes is a failure of its own website."""
    names = emulator.websites
    body: Any = emulator.client().request("GET", "/api/websites")
    bad = {"localhost": "UTC", "10.0.0.1": "UTC", "a b": "UTC", "a.example": "Mars"}
    one = body["websites"][0]
    body["websites"][1:1] = [
        {**one, "hostname": name, "timezone": zone} for name, zone in bad.items()
    ]
    emulator.fail_next(times=None, body=body, path="/api/websites")
    options = ("--during", "last-month", "-f", "visitors", "--format", "jsonl")
    done = run(command, "--all", *options)
    found = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 3
    assert [one["hostname"] for one in found if "error" in one] == [*bad]
    assert {one["hostname"] for one in found} == {*bad, *names}
    assert "localhost: HOST: 'localhost' has no dot" in done.err
    assert "4 of 7 failed" in done.err
    # What the list has beside it is nothing to a website that is named.
    assert run(command, HOST, "--with", "label", *options).code == 0
