"""What a result shows: which rows, in which order, and what is left out."""

from __future__ import annotations

from html_pages import assert_harmless, pages_of
from sitestats import StatsQuery, WebsiteSpec
from sitestats._results.comparison import changes_of
from sitestats.emulator import Emulator
from sitestats.provisioning import (
    PlannedWebsite,
    ProvisionedWebsite,
    ProvisioningPlan,
    ProvisioningReport,
)


def test_a_long_list_says_what_it_leaves_out() -> None:
    """Above ten rows a list counts the others, and a truncated list says so."""
    html = pages_of(*(f"/{n}" for n in range(25)))._repr_html_()
    assert "/9" in html
    assert "/10" not in html
    assert "… 15 more" in html
    assert "limit" not in html
    cut = pages_of("/", truncated=True)
    assert "cut by the limit" in cut._repr_html_()
    assert "cut by the limit" in changes_of(cut, pages_of("/"))._repr_html_()
    assert "cut by the limit" in changes_of(pages_of("/"), cut)._repr_html_()


def test_an_empty_list_says_so() -> None:
    """A list without entries says so, and is no empty table."""
    assert "nothing in this period" in pages_of()._repr_html_()


def test_only_long_texts_take_several_lines() -> None:
    """A column of days or of zones is not broken into lines, one of messages is."""
    query = StatsQuery("semicomplete.com").fields("visitors").on("2026-10-01")
    queries = [query, query.website("nobody.example")]
    with Emulator.demo().client() as client:
        html = client.stats.get_many(queries).collect()._repr_html_()
    assert html.count("<td class='text'>2026-10-01</td>") == 4
    assert "<td class='long'>NotFoundError: " in html


def test_a_shortened_report_begins_with_what_needs_a_look() -> None:
    """Plans and reports show differences and failures before all the rest."""
    specs = [WebsiteSpec(f"n{number}.example") for number in range(20)]
    plan = ProvisioningPlan(
        tuple(
            PlannedWebsite(spec, "to_add" if spec is specs[-1] else "present")
            for spec in specs
        )
    )
    report = ProvisioningReport(
        tuple(
            ProvisionedWebsite(spec, "unknown" if spec is specs[-1] else "added")
            for spec in specs
        )
    )
    for result in (plan, report):
        html = result._repr_html_()
        assert html.index("n19.example") < html.index("n0.example")
        assert "… 10 more" in html
        assert "20 websites: " in html


def test_a_comparison_without_totals_names_both_periods() -> None:
    """A comparison of lists alone names both periods."""
    query = StatsQuery("semicomplete.com").fields("pages").last(days=4)
    with Emulator.demo().client() as client:
        comparison = client.stats.compare(query)
    assert comparison.totals == {}
    shown = "".join(assert_harmless(comparison._repr_html_()).texts)
    assert "against" in shown
