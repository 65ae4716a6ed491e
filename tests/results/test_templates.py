"""Results in the templates of Jinja and Django, which swallow many errors."""

from __future__ import annotations

import dataclasses
import datetime as dt
import pprint
from typing import Any

import pytest

from sitestats import (
    Failed,
    FieldNotRequestedError,
    HistogramEntry,
    NotFoundError,
    PageEntry,
    Problem,
    RetryPolicy,
    SiteStatsError,
    Stats,
    StatsQuery,
    UnrequestedAttributeError,
    WebsiteSpec,
)
from sitestats.types import HourEntry, WeekEntry

jinja2 = pytest.importorskip("jinja2")
django_template = pytest.importorskip("django.template")

QUERY = StatsQuery("a.example").fields("visitors", "pages")
STATS = Stats.of(QUERY, visitors=3, pages=[("/a", 3, 2)])
COMPARISON = STATS.compare_to(STATS)
ENGINE = django_template.Engine()


def by_jinja(text: str, **values: object) -> str:
    """The *text* with values, made by Jinja as Flask has it."""
    return jinja2.Environment(autoescape=True).from_string(text).render(values)


def by_django(text: str, **values: object) -> str:
    """The *text* with values, made by Django."""
    made: str = ENGINE.from_string(text).render(
        django_template.Context(values, use_l10n=False, use_tz=False)
    )
    return made


@pytest.mark.parametrize("render", [by_jinja, by_django])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{{ s.countries }}", r"'countries' was not requested: add it to the query"),
        ("{% for c in s.countries %}{{ c }}{% endfor %}", "was not requested"),
        ("{% if s.events %}yes{% endif %}", r"\.all_events\(\)"),
        ("{{ s.visitrs }}", r"Stats has no 'visitrs': did you mean \.visitors"),
        ("{{ page.seconds_on_page }}", "'seconds_on_page' was not requested"),
        ("{{ page.pageview }}", "PageEntry has no 'pageview'"),
        ("{{ comparison.totals.pageviews }}", "was not compared, but visitors"),
        ("{{ comparison.lists.countries }}", "was not compared, but pages"),
        ("{{ comparison.countries }}", "'countries' was not requested"),
        ("{{ change.total }}", "has no 'total', but pageviews, visitors"),
    ],
)
def test_what_is_not_there_is_an_error(render: Any, text: str, words: str) -> None:
    """An empty place would look as if nobody had come."""
    values = {"s": STATS, "page": STATS.pages[0], "comparison": COMPARISON}
    with pytest.raises(FieldNotRequestedError, match=words):
        render(text, **values, change=COMPARISON["pages"][0])


@pytest.mark.parametrize("render", [by_jinja, by_django])
@pytest.mark.parametrize(
    "value",
    [
        QUERY,
        WebsiteSpec("a.example"),
        Problem("It is wrong."),
        NotFoundError("unknown", status_code=404),
        RetryPolicy(),
        COMPARISON.largest(),
        COMPARISON.largest().body[0],
        Failed(QUERY, 0, NotFoundError("unknown", status_code=404)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_misspelt_name_of_any_value_is_an_error(render: Any, value: Any) -> None:
    """Of queries, specifications, errors and tables as of results."""
    words = f"{type(value).__name__} has no 'nothing': it has"
    with pytest.raises(FieldNotRequestedError, match=words):
        render("{{ value.nothing }}", value=value)


@pytest.mark.parametrize("render", [by_jinja, by_django])
def test_what_is_there_is_found(render: Any) -> None:
    """Values, entries and methods without arguments, as attributes of Python."""
    text = "{{ s.visitors }} {{ s.hostname }} {{ s.query.hostname }} {{ s.partial }}"
    assert render(text, s=STATS) == "3 a.example a.example False"
    text = "{% for p in s.pages %}{{ p.value }} {{ p.visitors }}{% endfor %}"
    assert render(text, s=STATS) == "/a 2"
    text = "{{ c.totals.visitors.now }} {{ c.pages.0.pageviews.before }}"
    assert by_django(text, c=COMPARISON) == "3 3"
    text = "{{ c.totals.visitors.now }} {{ c.pages[0].pageviews.before }}"
    assert by_jinja(text, c=COMPARISON) == "3 3"


def test_default_is_no_way_around() -> None:
    """A test of a value that is missing, or a default for it, is the same error."""
    for text in ("{{ s.pageviews|default(0) }}", "{{ s.pageviews is defined }}"):
        with pytest.raises(FieldNotRequestedError):
            by_jinja(text, s=STATS)


def test_python_goes_on_as_users_expect() -> None:
    """``hasattr`` and ``getattr`` with a default work; an item is found by its name and
    no list is made of a result.
    """
    stats: Any = STATS
    assert not hasattr(stats, "countries")
    assert getattr(stats, "countries", None) is None
    assert (stats["visitors"], stats["query"]) == (3, QUERY)
    with pytest.raises(UnrequestedAttributeError, match="was not requested"):
        _ = stats.countries
    with pytest.raises(FieldNotRequestedError) as caught:
        _ = stats["countries"]
    assert not isinstance(caught.value, AttributeError | LookupError)
    assert isinstance(caught.value, SiteStatsError)
    assert caught.value.name == "countries"
    largest: Any = COMPARISON.largest()
    for wrong in (lambda: [*stats], lambda: stats[0], lambda: [*largest]):
        with pytest.raises(TypeError, match=r"read a (field|value)"):
            wrong()
    for name in ("_values", 5, "__class__"):
        with pytest.raises((FieldNotRequestedError, TypeError)):
            stats[name]


def test_results_are_dicts_of_their_json() -> None:
    """``dict`` and ``dataclasses.asdict``, by which frameworks make JSON of what they
    don't know, give what ``to_dict`` gives.
    """
    for result in (STATS, COMPARISON, STATS.pages[0]):
        unknown: Any = result
        assert dict(unknown) == {**unknown} == result.to_dict()
    entry = PageEntry("/a", 3, 2)
    assert dataclasses.asdict(entry) == entry.to_dict()
    assert dataclasses.replace(entry, visitors=1) == PageEntry("/a", 3, 1)


@pytest.mark.parametrize("kind", [HistogramEntry, HourEntry, WeekEntry])
def test_pprint_shows_lists_of_entries(kind: Any) -> None:
    """``pprint`` looks into what it takes for a dataclass, if the text is long."""
    entry = kind(
        dt.date(2026, 3, 1), 3, 2, start=dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
    )
    assert pprint.pformat([entry] * 2, width=20) == f"[{entry!r},\n {entry!r}]"
