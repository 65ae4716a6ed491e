"""Output that leaves the notebook: mails, pages, Markdown, notebooks without trust."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from display.sample_tables import ATTACKS
from displayed import Page as Parsed
from displayed import assert_harmless, pages_of
from plotted import daily
from sitestats import Client, StatsQuery, UsageError
from sitestats.analysis import Display, Page
from sitestats.emulator import Emulator

NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
QUERY = StatsQuery("shop.example").fields(
    "pageviews", "visitors", "histogram", "pages", "countries", "referrers"
)
MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of three made-up websites."""
    with Emulator.made_up(3, days=40, now=NOW).client() as client:
        yield client


def results(client: Client) -> list[Any]:
    """A result of each kind."""
    week = QUERY.last(days=7)
    websites = client.websites.list()
    totals = StatsQuery("shop.example").fields("visitors").last(days=7)
    comparison = client.stats.compare(week)
    return [
        *(stats := client.stats.get(week), stats.pages, stats.histogram, websites),
        *(comparison, comparison["pages"], comparison.largest()),
        client.stats.get_many(totals.each(websites=websites)).collect(),
        client.stats.compare(totals.each(websites=websites)),
    ]


def test_what_is_left_without_tags_reads(client: Client) -> None:
    """A notebook that is not trusted loses style sheets and drawings, and a plain
    reader every tag: no number runs into a word, and no tooltip into the text.
    """
    for result in results(client):
        html = result._repr_html_()
        assert html == result.to_html()
        assert not re.search("<(style|svg|script|title|link|img)", html)
        text = re.sub("<[^>]*>", "", html)
        assert not re.search(r"\d(page|visitors|now|before)|visitors\w|\d,\d{4}", text)
        assert not re.search(r"\d{4}-\d\d-\d\d\d|\d/|visitors/", text)


def test_a_piece_is_light(client: Client) -> None:
    """A mail client cuts a mail at 100 kB; a whole overview is a fifth of it."""
    sizes = [len(result.to_html()) for result in results(client)]
    assert max(sizes) < 25_000
    hours = StatsQuery("shop.example").fields("histogram").interval("hour")
    assert len(client.stats.get(hours.last(days=14)).to_html()) < 60_000


def test_a_page_is_a_whole_mail(client: Client) -> None:
    """It survives the way through a mail, byte by byte, with texts between results."""
    stats, *_ = results(client)
    page = Page("Tom & Ann's <week>", "Compared & <b>", stats, Display(stats.pages, 2))
    html = page.to_html()
    mail = EmailMessage(policy=policy.SMTP)
    mail.set_content("See the HTML.")
    mail.add_alternative(html, subtype="html")
    read = message_from_bytes(bytes(mail), policy=policy.default)
    body = read.get_body(("html",))
    assert body is not None
    assert body.get_content().replace("\r\n", "\n") == html
    parsed = Parsed(html)
    text = "".join(parsed.texts)
    assert text.count("Tom & Ann's <week>") == 2
    assert repr(page).startswith('<Page "Tom & Ann')
    assert "Compared & <b>" in text
    assert "… 7 more" in text
    assert parsed.tags - {"html", "head", "meta", "title", "body", "h2", "p"} <= {
        *("div", "h4", "b", "table", "caption", "thead", "tbody", "tr", "th", "td")
    }
    assert html.startswith("<!doctype html>")


def test_a_page_shows_as_many_rows_as_are_wanted(client: Client) -> None:
    """The number is of all results, but those with a display of their own; a page has
    its title first.
    """
    stats, *_ = results(client)
    with pytest.raises(UsageError, match="give the title first"):
        Page(stats)
    assert "… 7 more" in Page("x", stats.pages, rows=2).to_html()
    assert "… 8 more" in Page("x", Display(stats.pages, 1), rows=2).to_markdown()
    assert "… 7 more" in stats.pages.to_html(rows=2)
    assert "… 7 more" in stats.pages.to_markdown(rows=2)


# --- Markdown -------------------------------------------------------------------------


def cells_of(text: str) -> list[str]:
    """The texts of the cells of a table in Markdown, as they are shown."""
    html = MARKDOWN.render(text)
    parsed = Parsed(html)
    assert parsed.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p", "code"}
    assert parsed.attributes <= {"style"}
    found = re.findall("<t[dh][^>]*>(.*?)</t[dh]>", html)
    return ["".join(Parsed(cell).texts) for cell in found]


@given(st.text(st.characters(codec="utf-8")))
def test_any_text_is_one_cell_of_text(text: str) -> None:
    """Whatever a path is, a table in Markdown has the same cells, and shows it."""
    cells = cells_of(pages_of(text, "/").to_markdown())
    assert len(cells) == 9
    if text.isprintable() and text.strip():
        assert cells[3].split() == text.split()


@pytest.mark.parametrize(
    "attack",
    [
        *ATTACKS,
        "[x](javascript:alert(1))",
        "![x](https://evil.example/x.png)",
        "https://evil.example",
        "www.evil.example",
        "<https://evil.example>",
        "@everyone",
        "me@evil.example",
        "me@evil.example|a|b",
        "a|b|c",
        "``` @x",
        "`|@`",
        "$\\frac{1}{0}$",
        "~~gone~~",
        "&lt;b&gt;",
        "a\\|b",
    ],
)
def test_no_text_is_read_as_markdown(attack: str) -> None:
    """No link, picture, mention, formula or tag, and no further cell."""
    text = pages_of(attack, "/").to_markdown()
    cells = cells_of(text)
    assert len(cells) == 9
    # A row that is too long would be cut, without a word.
    assert all(map(str.isdecimal, cells[4:6]))
    line = text.splitlines()[2]
    code = re.sub("(`+) .*? \\1", "", line)
    assert "@" not in code
    assert not re.search(r"(?<!\\)([$<\[]|://)|www\.", code)


def test_a_zone_and_an_hour_stay_readable() -> None:
    """A plain mail shows Markdown as it is: only what it would read is escaped."""
    text = pages_of("America/New_York 17:00, of: all").to_markdown()
    assert "America/New_York 17:00, of: all" in text
    for read in (":+1:", "https://a.example", "_a_", "a__b__"):
        assert f"| {read} |" not in pages_of(read).to_markdown()


def test_what_markdown_has_of_each_result(client: Client) -> None:
    """Titles, periods, totals, lists and notes, as the display has them."""
    for result in results(client):
        text = result.to_markdown()
        assert text.endswith("\n")
        MARKDOWN.render(text)
        assert not re.search("<|None", text)
    stats, *_ = results(client)
    text = stats.to_markdown()
    assert "**shop\\.example**" in text or "**shop.example**" in text
    assert "2026-02-26 to 2026-03-04, Europe/Amsterdam" in text
    assert f"| {stats.pageviews:,} | {stats.visitors:,} |" in text
    assert text.count("█") > len(stats.histogram)


def test_a_long_chart_in_markdown_says_what_it_leaves_out() -> None:
    """A line for each day of a month, and how many there are."""
    text = daily(90).to_markdown()
    assert text.count("█ |") == 31
    assert "the last 31 of 90" in text
    assert "nothing in this period" in daily(0).to_markdown()
    assert_harmless(daily(0).to_html())
