"""One outcome: a result or an error."""

from __future__ import annotations

from sitestats import StatsQuery
from sitestats.emulator import Emulator


def test_an_outcome_shows_its_result_or_its_error() -> None:
    """An outcome displays its result, or its error."""
    query = StatsQuery("semicomplete.com").fields("pageviews").last(days=2)
    queries = [query, query.website("nobody.example")]
    with Emulator.demo().client() as client, client.stats.get_many(queries) as stream:
        succeeded, failed = sorted(stream, key=lambda outcome: outcome.index)
    assert succeeded.result()._repr_html_() == succeeded._repr_html_()
    html = failed._repr_html_()
    assert "nobody.example" in html
    assert "NotFoundError: " in html
