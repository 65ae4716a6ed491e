"""Options of a query: each is a step of the builder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sitestats import StatsQuery
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from commands import Run

HOST = "semicomplete.com"


def test_every_option_is_a_step_of_the_builder(emulator: Emulator, run: Run) -> None:
    """The options request what the builder's steps do."""
    done = run(
        *("url", HOST, "--base-url", "https://stats.example/analytics"),
        *("--field", "pages,visitors", "--field", "histogram"),
        *("--event", "download", "--event", "feed_read"),
        *("--start", "2026-01-01", "--end", "today-1d"),
        *("--timezone", "Europe/Amsterdam", "--interval", "week", "--limit", 7),
        *("--where", "country=NL", "--where", "pages=/a*", "--where", "pages=/b=c"),
        *("--metadata", "plan=pro", "--metadata", "paid=true"),
        *("--api-version", 6, "--param", "new=x&y"),
    )
    query = (
        StatsQuery(HOST)
        .fields("pages", "visitors", "histogram")
        .events("download", "feed_read")
        .between("2026-01-01", "today-1d")
        .timezone("Europe/Amsterdam")
        .interval("week")
        .limit(7)
        .where(country="NL", pages=["/a*", "/b=c"])
        .where_metadata(plan="pro", paid=True)
        .extra_param("new", "x&y")
    )
    assert done.code == 0, done.err
    assert done.out == query.url("https://stats.example/analytics") + "\n"
    assert emulator.requests == ()


@pytest.mark.parametrize(
    ("options", "query"),
    [
        (["--on", "yesterday"], StatsQuery(HOST).on("yesterday")),
        (["--start", "today"], StatsQuery(HOST).between("today")),
        (["--end", "today-3d"], StatsQuery(HOST).between(None, "today-3d")),
        (["--last", "3"], StatsQuery(HOST).last(days=3)),
        (["--path", "/a b"], StatsQuery(HOST).path("/a b")),
        (["--all-events"], StatsQuery(HOST).all_events()),
        (["--where", "page=*"], StatsQuery(HOST).where(page="*")),
    ],
)
def test_short_forms_of_options(
    run: Run, options: list[str], query: StatsQuery
) -> None:
    """Each short form for a period, a page or events is a step too."""
    done = run("url", HOST, "-f", "visitors", *options, "--base-url", "https://s.org")
    assert done.out == query.fields("visitors").url("https://s.org") + "\n"


def test_events_alone_need_no_fields(run: Run) -> None:
    """The overview's fields are requested only when nothing else is."""
    base = ["--base-url", "https://s.org"]
    assert "fields=" not in run("url", HOST, "-e", "download", *base).out
    assert "fields=pageviews,visitors,histogram" in run("url", HOST, *base).out


def test_an_address_is_a_query(emulator: Emulator, run: Run) -> None:
    """The address of a dashboard is accepted, with its filters."""
    address = f"https://elsewhere.example/{HOST}/blog?country=NL"
    done = run("url", address, "-f", "visitors", "--base-url", "https://s.org/r")
    query = StatsQuery(HOST).path("/blog").where(country="NL").fields("visitors")
    assert done.out == query.url("https://s.org/r") + "\n"
    below = run("url", f"https://s.org/r/{HOST}", "--base-url", "https://s.org/r")
    assert below.out.startswith(f"https://s.org/r/{HOST}.json?")


def test_what_an_address_does_not_tell_is_an_error(
    emulator: Emulator, run: Run
) -> None:
    """Numbers of everything are not printed silently for a filtered dashboard."""
    address = f"https://elsewhere.example/{HOST}?search=paths%3Atopics&period=year"
    done = run("stats", address, "-f", "visitors")
    assert (done.code, emulator.requests) == (2, ())
    assert "HOST: the parameter 'search=paths:topics'" in done.err
    assert "HOST: the parameter 'period=year'" in done.err
