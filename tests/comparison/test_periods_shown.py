"""Every table, text, sheet and frame of a comparison says which days it compares."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Iterator

import openpyxl
import pytest

from displayed import Page, terminal
from sitestats import Client, StatsQuery
from sitestats.emulator import Emulator

NOW = dt.datetime(2026, 3, 5, 12, tzinfo=dt.UTC)
QUERY = StatsQuery("shop.example").fields("visitors", "pages")
DAYS = ("first_day", "last_day", "first_day_before", "last_day_before")
PERIODS = ("2026-03-01 to 2026-03-04", "2026-02-25 to 2026-02-28")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of three made-up websites."""
    with Emulator.made_up(3, days=40, now=NOW).client() as client:
        yield client


def shown_in(result: object) -> list[str]:
    """What a notebook, a terminal and a repr show."""
    html = result._repr_html_()  # type: ignore[attr-defined]
    return ["".join(Page(html).texts), terminal(result, width=150), repr(result)]


def test_every_display_has_both_periods(client: Client) -> None:
    """One comparison, its lists, the largest changes and many comparisons show both."""
    one = client.stats.compare(QUERY.last(days=4))
    many = client.stats.compare(
        QUERY.last(days=4).each(websites=client.websites.list())
    )
    for result in (one, one["pages"], one["pages"].of("up"), one.largest(), many):
        for text in shown_in(result):
            assert all(period in text for period in PERIODS), text


def test_periods_that_differ_have_columns(client: Client) -> None:
    """Websites whose days differ say so on their lines, as do months of one website."""
    mixed = [QUERY.last(days=4), QUERY.website("blog.example").last(days=2)]
    for text in shown_in(client.stats.compare(mixed)):
        for days in (*PERIODS, "2026-03-03 to 2026-03-04", "2026-03-01 to 2026-03-02"):
            assert days in text
    weeks = QUERY.between("2026-02-16", "2026-03-01").each("week")
    for text in shown_in(client.stats.compare(weeks)):
        assert text.count("2026-02-16 to 2026-02-22") == 2
        assert text.count("2026-02-09 to 2026-02-15") == 1


def test_every_frame_and_sheet_has_both_periods(client: Client) -> None:
    """So a frame that is handed on says what it compares."""
    one = client.stats.compare(QUERY.last(days=4))
    many = client.stats.compare([QUERY.last(days=4)])
    rows = [
        *(one.to_dicts("pages")[0], one["pages"].to_dicts()[0], one.to_dicts()[0]),
        *(one.largest().to_dicts()[0], many.to_dicts("pages")[0], many.to_dicts()[0]),
    ]
    for row in rows:
        days = [row[name] for name in DAYS]
        assert days == [*PERIODS[0].split(" to "), *PERIODS[1].split(" to ")]
    for result in (one, one["pages"], one.largest(), many):
        result.to_excel(file := io.BytesIO())
        for sheet in openpyxl.load_workbook(file, data_only=True):
            heads = [cell.value for cell in sheet[1]]
            assert sheet.title == "queries" or {*DAYS} <= {*heads}


def test_a_plot_of_a_list_has_both_periods(client: Client) -> None:
    """The title names the days."""
    title = client.stats.compare(QUERY.last(days=4))["pages"].plot().get_title("left")
    assert " against ".join(PERIODS) in title.replace("\n", " ")


def test_hours_have_their_date_and_hour(client: Client) -> None:
    """The heat map of hours and weekdays runs on a comparison, of each of its sides."""
    query = StatsQuery("shop.example").fields("histogram").interval("hour")
    one = client.stats.compare(query.last(days=7), against="previous-week")
    frame = one.to_pandas("histogram")
    weekday = frame["date"].dt.day_of_week
    week = frame.pivot_table("pageviews_change", weekday, "hour", "mean")
    assert week.shape == (7, 24)
    assert (frame["date"] == frame["date_before"] + dt.timedelta(7)).all()
    assert (frame["hour"] == frame["hour_before"]).all()
    item = one["histogram"][5]
    assert (item.hour, item.hour_before) == (5, 5)
    # A display has the moment, which is the same.
    assert "date" not in terminal(one["histogram"], width=150).splitlines()[0]
