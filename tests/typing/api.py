"""Type checks of the clients and their results; never run."""

from __future__ import annotations

from datetime import date, datetime
from typing import assert_type

from matplotlib.axes import Axes

from sitestats import (
    AddedWebsite,
    AsyncClient,
    Client,
    Entries,
    EventCount,
    HistogramEntry,
    InvalidInputError,
    ListEntry,
    PageEntry,
    Problem,
    RateLimitedError,
    RequestTimeoutError,
    RetryPolicy,
    SiteStatsError,
    Stats,
    StatsQuery,
    StatusError,
    TransportError,
    UnrequestedAttributeError,
    Website,
    WebsiteList,
    WebsiteSpec,
)
from sitestats.provisioning import ProvisioningPlan, ProvisioningReport
from sitestats.types import Change, Changes, Comparison, Comparisons


def blocking(query: StatsQuery) -> None:
    """Each method of Client returns a plain model."""
    with Client("https://stats.example.org", api_key="a", user_id=None) as client:
        assert_type(client, Client)
        assert_type(client.websites.list(), WebsiteList)
        assert_type(client.websites.add("example.com", public=True), AddedWebsite)
        specs = WebsiteSpec.load("websites.toml")
        assert_type(specs, tuple[WebsiteSpec, ...])
        assert_type(client.websites.plan(specs), ProvisioningPlan)
        report = client.websites.ensure(iter(specs), journal=None, progress=print)
        assert_type(report, ProvisioningReport)
        assert_type(report.refused[0].error, SiteStatsError | None)
        assert_type(client.stats.get(query), Stats)
        month = client.stats.compare(query, against="previous-month")
        assert_type(month, Comparison)
        assert_type(client.stats.get_jsonp(query, callback="show"), str)
        assert_type(client.with_options(timeout=5, retries=0), Client)
        assert_type(client.with_options(retries=RetryPolicy(retries=5)), Client)
    assert_type(Client.from_env(base_url="https://stats.example.org"), Client)


async def awaited(query: StatsQuery) -> None:
    """AsyncClient returns the same, awaited."""
    async with AsyncClient("https://stats.example.org", max_connections=5) as client:
        assert_type(client.with_options(total_timeout=60), AsyncClient)
        assert_type(await client.websites.list(), WebsiteList)
        assert_type(await client.stats.get(query), Stats)


def results(stats: Stats) -> None:
    """A requested value has its plain type; only what may be null is optional."""
    assert_type(stats.visitors, int)
    assert_type(stats.pageviews, int)
    assert_type(stats.seconds_on_page, float | None)
    assert_type(stats.first_day, date | None)
    assert_type(stats.pages, Entries[PageEntry])
    assert_type(stats.countries, Entries[ListEntry])
    assert_type(stats.histogram, Entries[HistogramEntry])
    assert_type(stats.events, Entries[EventCount])
    assert_type(stats.requested, tuple[str, ...])
    assert_type(stats.start, datetime | None)
    assert_type(stats.body, bytes)
    assert_type(stats.query, StatsQuery)
    assert_type("pages" in stats, bool)


def plots(stats: Stats, comparison: Comparison, axes: Axes) -> None:
    """A plot returns its axes, and draws only what there is."""
    assert_type(stats.plot(), Axes)
    assert_type(stats.plot("pages", ax=axes), Axes)
    assert_type(comparison.plot(count="visitors"), Axes)
    assert_type(comparison["pages"].plot(ax=axes), Axes)
    stats.plot("page")  # type: ignore[arg-type] # misspelt
    stats.plot("visitors")  # type: ignore[arg-type] # a total
    comparison.plot("events")
    comparison.plot(count="seconds_on_page")  # type: ignore[arg-type] # a median


def containers(stats: Stats) -> None:
    """An entry has the type of its list, and a slice is a list again."""
    assert_type(stats.pages[0], PageEntry)
    assert_type(stats.pages[:5], Entries[PageEntry])
    assert_type([page.value for page in stats.pages], list[str])
    assert_type(stats.pages.truncated, bool)
    assert_type(stats.pages[0].pageviews, int)
    assert_type(stats.pages[0].seconds_on_page, float | None)
    assert_type(stats.countries[0].value, str | None)
    assert_type(stats.histogram[0].date, date)
    assert_type(stats.histogram[0].start, datetime | None)


def websites(website: Website, added: AddedWebsite) -> None:
    """What is known of a website."""
    assert_type(website.hostname, str)
    assert_type(website.label, str | None)
    assert_type(added.differences, tuple[Problem, ...])


def errors(client: Client, query: StatsQuery) -> float | None:
    """Each class of error has the attributes that its handler needs."""
    try:
        client.stats.get(query)
    except RateLimitedError as error:
        return error.retry_after
    except StatusError as error:
        assert_type(error.status_code, int)
        assert_type(error.code, str | None)
    except RequestTimeoutError as error:
        timeout: TimeoutError = error
        assert_type(error.maybe_sent, bool)
        raise timeout from None
    except TransportError as error:
        assert_type(error.maybe_sent, bool)
    except InvalidInputError as error:
        value_error: ValueError = error
        assert_type(error.problems, tuple[Problem, ...])
        raise value_error from None
    except UnrequestedAttributeError as error:
        attribute_error: AttributeError = error
        raise attribute_error from None
    return None


def comparisons(comparison: Comparison) -> None:
    """Totals and lists are read by the names of fields, and a wrong one is found."""
    assert_type(comparison.totals["visitors"], Change)
    assert_type(comparison.totals["seconds_on_page"].now, int | float | None)
    assert_type(comparison["pages"], Changes)
    assert_type([comparison[name] for name in comparison.lists], list[Changes])
    comparison.totals["visitrs"]  # type: ignore[index]  # misspelt
    comparison["page"]  # type: ignore[index]  # misspelt
    assert_type(comparison["histogram"], Changes)
    comparison["visitors"]  # type: ignore[index]  # a total


def mistakes(client: Client, stats: Stats, query: StatsQuery) -> None:
    """A type checker finds these mistakes."""
    client.stats.get("example.com")  # type: ignore[arg-type]  # not a query
    client.stats.compare(query, against=7.5)  # type: ignore[call-overload]  # no period
    assert_type(client.stats.compare([query]), Comparisons)
    client.stats.get(query, timeout=2.0)  # type: ignore[arg-type]  # with_options
    client.websites.add("example.com", "UTC")  # type: ignore[call-arg]  # by name only
    stats.visitor  # type: ignore[attr-defined]  # noqa: B018  # misspelt
    stats.visitors = 5  # type: ignore[misc]  # read-only
