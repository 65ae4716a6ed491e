"""rich output: the numbers, and nothing that visitors control."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from html_pages import pages_of
from sample_tables import sample_tables
from sitestats import (
    Entries,
    HistogramEntry,
    ListEntry,
    StatsQuery,
    WebsiteSpec,
)
from sitestats._results.comparison import changes_of
from sitestats._results.websites import WebsiteList
from sitestats.emulator import Emulator
from sitestats.provisioning import Difference, PlannedWebsite, ProvisioningPlan


def shown(
    result: object, *, encoding: str = "utf-8", color: bool = False, width: int = 80
) -> str:
    """The output of ``rich.print`` for *result*, 80 columns wide."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    console = Console(
        file=file,
        width=width,
        color_system="standard" if color else None,
        force_terminal=color,
        _environ={},
    )
    console.print(result)
    file.seek(0)
    return file.read()


def days(count: int, *, partial: bool) -> Entries[HistogramEntry]:
    """So many days, the last of them partial or not."""
    first = dt.date(2026, 1, 1)
    return Entries(
        [
            HistogramEntry(
                first + dt.timedelta(days=number),
                1000 * number,
                1,
                partial=partial and number == count - 1,
            )
            for number in range(count)
        ],
        name="histogram",
        entry_type=HistogramEntry,
    )


def test_a_whole_result() -> None:
    """A result shows website, period, totals, chart and lists."""
    query = (
        StatsQuery("semicomplete.com")
        .fields("pageviews", "histogram", "pages", "referrers")
        .all_events()
        .last(days=4)
        .timezone("Europe/Amsterdam")
    )
    emulator = Emulator.demo(
        now=dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC), null_entries=True
    )
    with emulator.client() as client:
        stats = client.stats.get(query)
    text = shown(stats)
    for words in (
        "semicomplete.com  2026-03-01 to 2026-03-04, Europe/Amsterdam",
        " page views",
        "█",
        "/projects/xdotool/ ",
        "download",
        "(none)",
        "… 40 more; cut by the limit",
    ):
        assert words in text
    with emulator.client() as client:
        page = client.stats.get(query.path("/projects/xdotool/"))
    assert "semicomplete.com/projects/xdotool/ " in shown(page)


def test_a_comparison() -> None:
    """A comparison shows both periods, the totals, and the changes of the lists."""
    query = StatsQuery("semicomplete.com").fields("pageviews", "countries").last(days=2)
    emulator = Emulator.demo(now=dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC))
    with emulator.client() as client:
        lines = shown(client.stats.compare(query)).splitlines()
    assert lines[0] == "semicomplete.com  2026-03-03 to 2026-03-04, UTC"
    assert "  against 2026-03-01 to 2026-03-02, UTC" in lines
    (totals,) = (line.split() for line in lines if line.startswith("page views"))
    assert totals == ["page", "views", "908", "678", "+230", "+33.9", "%"]
    (us,) = (line.split() for line in lines if line.startswith("US "))
    assert us[-1] == "up"


def test_a_change_is_coloured_by_its_sign() -> None:
    """More is green, less is red, and the same has no colour."""

    def of(now: int, before: int) -> str:
        changes = changes_of(
            *(
                Entries([ListEntry("NL", n, n)], name="countries", entry_type=ListEntry)
                for n in (now, before)
            )
        )
        return shown(changes, color=True)

    green, red = "\x1b[32m", "\x1b[31m"
    assert green in of(2, 1)
    assert red not in of(2, 1)
    assert red in of(1, 2)
    assert green not in of(1, 2)
    assert green not in of(1, 1)
    assert red not in of(1, 1)


ATTACKS = [
    "\x1b]0;renamed\x07",
    "\x1b[2J\x1b[31m",
    "[bold]loud[/bold]",
    "[/]",
    "[link=https://example.com]x[/link]",
    ":warning:",
    "a\r\nb",
    "\u202eltr",
    "\x9b31m",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_visitors_write_is_text(attack: str) -> None:
    """A path is shown as text: it moves no cursor, and is no markup."""
    for result in (
        pages_of(attack),
        changes_of(pages_of(attack), pages_of("/")),
    ):
        text = shown(result)
        assert all(letter.isprintable() or letter == "\n" for letter in text)
        if attack.isprintable():
            assert attack in text
        else:
            assert "\\" in text


def test_what_a_response_says_of_itself_is_text() -> None:
    """Website, page and zone of a response are shown as text too."""
    query = StatsQuery("semicomplete.com").fields("pageviews").last(days=2)
    with Emulator.demo().client() as client:
        stats = client.stats.get(query)
    for name in ("hostname", "path", "timezone"):
        odd = attrs.evolve(stats, **{name: "\x1b[2Jodd"})
        for result in (odd, stats.compare_to(odd), odd.compare_to(stats)):
            text = shown(result)
            assert all(letter.isprintable() or letter == "\n" for letter in text)
        assert "\\x1b[2Jodd" in shown(odd)


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_the_service_writes_is_text(attack: str) -> None:
    """Websites, plans, reports and failures show labels and messages as text."""
    for result in sample_tables(attack):
        text = shown(result, width=400)
        assert all(letter.isprintable() or letter == "\n" for letter in text)
        if attack.isprintable():
            assert attack in text


def test_a_list_of_websites() -> None:
    """Websites are a table; an outcome is displayed as its result is."""
    query = StatsQuery("semicomplete.com").fields("pageviews").last(days=2)
    with Emulator.demo().client() as client, client.stats.get_many([query]) as stream:
        text = shown(client.websites.list())
        (outcome,) = stream
    assert "semicomplete.com" in text
    assert "1,586" in text
    assert "page views and events in 30 days" in text
    assert shown(outcome) == shown(outcome.result())
    assert "none" in shown(WebsiteList())


def test_no_part_of_a_row_is_cut_off() -> None:
    """A row of websites is wrapped, not cut, in a narrow terminal."""
    spec = WebsiteSpec("example.com", timezone="America/Argentina/ComodRivadavia")
    differences = (
        Difference("timezone", spec.timezone, "America/North_Dakota/New_Salem"),
        Difference("public", wanted=False, found=True),
    )
    plan = ProvisioningPlan((PlannedWebsite(spec, "differing", None, differences),))
    text = shown(plan)
    assert "…" not in text
    assert "example.com " in text
    for difference in differences:
        words = str(difference).split()
        assert all(word[:8] in text for word in words)


@given(st.text())
def test_any_path_is_printable(text: str) -> None:
    """Any path is displayed with printable characters."""
    shown_text = shown(pages_of(text))
    assert all(letter.isprintable() or letter == "\n" for letter in shown_text)


@pytest.mark.parametrize("count", [3, 60], ids=["bars", "sparkline"])
def test_the_bucket_that_is_not_over_is_marked(count: int) -> None:
    """The partial bucket is marked in a short chart and in a long one."""
    assert "not over yet" in shown(days(count, partial=True))
    assert "not over yet" not in shown(days(count, partial=False))


@pytest.mark.parametrize("count", [3, 60, 400])
def test_a_chart_fits_where_it_is_drawn(count: int) -> None:
    """No line of a chart is wider than the terminal, in Unicode and in ASCII."""
    text = shown(days(count, partial=True))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert text.count("█") >= 1
    plain = shown(days(count, partial=True), encoding="ascii")
    assert plain.isascii()
    assert plain.count("#") + plain.count("@") >= 1


def test_a_count_above_zero_is_seen() -> None:
    """The smallest count has a bar next to the largest, and zero has none."""
    histogram: Entries[Any] = Entries(
        [
            HistogramEntry(dt.date(2026, 1, day), count, 1)
            for day, count in enumerate((0, 1, 100_000), start=1)
        ],
        name="histogram",
        entry_type=HistogramEntry,
    )
    zero, one, most = (line.count("█") for line in shown(histogram).split("\n")[1:4])
    assert (zero, one) == (0, 1)
    assert most > 30


def test_bars_that_the_period_cuts_say_so() -> None:
    """A clipped bar has its note; a long chart names the first and the last ones."""
    few: Entries[Any] = days(3, partial=True)
    cut = [msgspec.structs.replace(few[0], clipped=True), *few[1:]]
    assert "cut by the period" in shown(attrs.evolve(few, items=cut)).split("\n")[1]
    many: Entries[Any] = days(90, partial=True)
    first, *rest = many
    both = [msgspec.structs.replace(first, clipped=True), *rest]
    lines = shown(attrs.evolve(many, items=both))
    assert "the first one is cut by the period" in lines
    assert "the last one is not over yet" in lines
