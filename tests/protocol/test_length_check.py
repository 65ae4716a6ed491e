"""How long the lists of a response may be."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fake_responses import reads
from faults.responses import repeated, stats
from sitestats import ResponseError, SiteStatsWarning, StatsQuery

pytestmark = [pytest.mark.slow, pytest.mark.once]
QUERY = StatsQuery("example.com").fields("pageviews")
PAGES = StatsQuery("example.com").fields("pages")
DAYS = StatsQuery("example.com").fields("histogram")
HOURS = DAYS.interval("hour")


@pytest.fixture(autouse=True)
def _no_warnings(recwarn: pytest.WarningsRecorder) -> Iterator[None]:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SiteStatsWarning)
        yield


@pytest.mark.parametrize(
    ("query", "name", "item", "most"),
    [
        (PAGES, "pages", b'{"value":"/","pageviews":1,"visitors":1}', 1_000),
        (PAGES.limit(3), "pages", b'"/"', 1_000),
        (QUERY.all_events(), "events", b'{"name":"a","total":1}', 1_000),
        (DAYS, "histogram", b"{}", 10_000),
        (DAYS.between("2010-01-01", "2025-12-31"), "histogram", b"{}", 11_688),
        (HOURS.last(days=1000), "histogram", b"{}", 48_000),
        (HOURS.since("2024-11-20"), "histogram", b"{}", 35_088),
    ],
)
def test_lengths_are_checked(
    query: StatsQuery, name: str, item: bytes, most: int
) -> None:
    """A list may be as long as the document allows, a histogram twice as long as its
    period; one entry more is an error.
    """
    body = stats(**{name: "?"}).replace(b'"?"', b"[" + b",".join([item] * most) + b"]")
    assert len(getattr(reads(query)(body), name)) == most
    longer = body.replace(b"[" + item, b"[" + item + b"," + item)
    with pytest.raises(ResponseError, match=f"can be {most:,} at most"):
        reads(query)(longer)


def test_what_was_not_checked_is_not_limited() -> None:
    """A limit above the document's, and a period of unknown length, are let through."""
    pages = stats(pages="?").replace(b'"?"', repeated(b'"/"', 4 * 5_000))
    assert len(reads(PAGES.extra_param("limit", 5_000))(pages).pages) == 5_000
    days = stats(histogram="?").replace(b'"?"', repeated(b"{}", 3 * 20_000))
    assert len(reads(DAYS.extra_param("start", "1950-W01"))(days).histogram) == 20_000
