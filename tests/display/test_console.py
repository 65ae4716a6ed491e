"""Results in a terminal: the numbers, and nothing that visitors control."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from display.inside import changes_of
from display.sample_tables import attacked
from displayed import pages_of, terminal
from plotted import daily, entries_of
from sitestats import Entries, HistogramEntry, ListEntry, StatsQuery, WebsiteSpec
from sitestats.emulator import Emulator
from sitestats.provisioning import Difference, ProvisionedWebsite, ProvisioningPlan

NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
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


def test_a_comparison() -> None:
    """A comparison shows both periods, the totals, and the changes of the lists."""
    query = StatsQuery("semicomplete.com").fields("pageviews", "countries").last(days=2)
    with Emulator.demo(now=NOW).client() as client:
        heading, *lines = terminal(client.stats.compare(query), width=120).splitlines()
    days = "2026-03-03 to 2026-03-04, UTC, against 2026-03-01 to 2026-03-02"
    assert heading == f"semicomplete.com  {days}"
    rows = [line.split() for line in lines]
    assert ["page", "views", "908", "678", "+230", "+33.9", "%"] in rows
    (us,) = (row for row in rows if row[:1] == ["US"])
    assert us[-1] == "up"


@pytest.mark.parametrize(
    ("now", "colors"), [(2, ["\x1b[32m"]), (0, ["\x1b[31m"]), (1, [])]
)
def test_a_change_is_coloured_by_its_sign(now: int, colors: list[str]) -> None:
    """More is green, less is red, and the same has no colour."""
    both = (
        Entries([ListEntry("NL", n, n)], name="countries", entry_type=ListEntry)
        for n in (now, 1)
    )
    text = terminal(changes_of(*both), color=True)
    assert [one for one in ("\x1b[32m", "\x1b[31m") if one in text] == colors


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_others_write_is_text(attack: str) -> None:
    """A path, a zone, a label or a message moves no cursor, and is not markup."""
    for result in attacked(attack):
        text = terminal(result, width=400)
        assert all(letter.isprintable() or letter == "\n" for letter in text)
        assert (attack if attack.isprintable() else "\\") in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_may_lack_letters(encoding: str) -> None:
    """A pipe of Windows, or a machine without UTF-8, shows escapes, and signs that it
    has; a repr has no other signs.
    """
    query = StatsQuery("semicomplete.com").fields("pageviews", "pages").last(days=2)
    with Emulator.demo(now=NOW).client() as client:
        results = [
            client.stats.compare(query),
            client.stats.compare([query]),
            client.stats.get_many([query, query.website("nobody.example")]).collect(),
        ]
    for result in results:
        assert terminal(result, encoding=encoding)
        assert repr(result).encode("cp1252")
    changes = changes_of(pages_of("/日本"), pages_of("/日本", "/b"))
    assert "/\\u65e5\\u672c" in terminal(changes, encoding=encoding)
    assert " -9 " in repr(changes)
    assert " -9 " in terminal(changes, encoding=encoding)


@given(st.text())
def test_any_path_is_printable(text: str) -> None:
    """Whatever a path is, the terminal gets printable characters alone."""
    shown = terminal(pages_of(text))
    assert all(letter.isprintable() or letter == "\n" for letter in shown)


def test_no_part_of_a_row_is_cut_off() -> None:
    """A row of websites is wrapped, not cut, in a narrow terminal."""
    spec = WebsiteSpec("example.com", timezone="America/Argentina/ComodRivadavia")
    difference = Difference("timezone", spec.timezone, "America/North_Dakota/New_Salem")
    item = ProvisionedWebsite(spec, "differing", None, (difference,))
    text = terminal(ProvisioningPlan((item,)))
    assert "…" not in text
    assert "example.com " in text
    assert all(word[:8] in text for word in str(difference).split())


@pytest.mark.parametrize("count", [3, 60, 400])
def test_a_chart_fits_where_it_is_drawn(count: int) -> None:
    """No line is wider than the terminal, in Unicode and in ASCII, and what is not
    over yet is marked in a short chart and in a long one.
    """
    text = terminal(daily(count, partial=1))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "█" in text
    assert "not over yet" in text
    assert "not over yet" not in terminal(daily(count))
    plain = terminal(daily(count), encoding="ascii")
    assert plain.isascii()
    assert {"#", "@"} & {*plain}


def test_a_count_above_zero_is_seen() -> None:
    """The smallest count has a bar next to the largest, and zero has none."""
    days = [
        HistogramEntry(dt.date(2026, 1, 1) + n * dt.timedelta(1), count, 1)
        for n, count in enumerate((0, 1, 100_000) * 20)
    ]
    assert " ▁█" in terminal(entries_of(days, HistogramEntry))
    lines = terminal(entries_of(days[:3], HistogramEntry)).splitlines()[1:4]
    zero, one, most = (line.count("█") for line in lines)
    assert (zero, one) == (0, 1)
    assert most > 30
