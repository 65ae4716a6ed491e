"""Results as JSON: there and back, and its schema, by which FastAPI describes it."""

from __future__ import annotations

import copy
import datetime as dt
import enum
import json
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Annotated, Any, Literal, get_origin

import pytest
from hypothesis import given

import sitestats
import sitestats.provisioning
import sitestats.types
from inside import FIELDS
from query_strategies import queries
from sitestats import (
    AddedWebsite,
    Entries,
    EventCount,
    Failed,
    FieldNotRequestedError,
    HistogramEntry,
    InvalidInputError,
    ListEntry,
    NotFoundError,
    Outcome,
    Outcomes,
    PageEntry,
    Problem,
    SetupReport,
    SiteStatsError,
    Stats,
    StatsQuery,
    Succeeded,
    Website,
    WebsiteList,
    WebsiteSpec,
    make_converter,
)
from sitestats.emulator import Emulator
from sitestats.provisioning import (
    Difference,
    ProvisionedWebsite,
    ProvisioningPlan,
    ProvisioningReport,
)
from sitestats.types import (
    Change,
    Changes,
    ComparedPair,
    Comparison,
    Comparisons,
    EntryChange,
    HourEntry,
    NamedPeriod,
    TimedListEntry,
    TimedPageEntry,
    WeekEntry,
)

pydantic = pytest.importorskip("pydantic")

QUERY = StatsQuery("semicomplete.com").fields(*FIELDS).all_events().last(days=3)
SPECS = [
    WebsiteSpec("semicomplete.com", timezone="Asia/Tokyo"),
    WebsiteSpec("bücher.example", public=True, label="é", accept_differing=True),
]
CONVERTER = make_converter()
PLAIN = (str, bytes, int, float, bool, dt.date, enum.Enum, type(None))
ENTRIES = {
    *(PageEntry, TimedPageEntry, ListEntry, TimedListEntry),
    *(HistogramEntry, HourEntry, WeekEntry, EventCount),
}
"""The structs, which tools hash in a way of their own."""


def results_of(query: StatsQuery) -> list[tuple[Any, Any]]:
    """Types, and a result of each that has to do with a query."""
    client = Emulator.demo().client()
    outcomes = client.stats.get_many([query, query.website("no.example")]).collect()
    stats = outcomes[0].result()
    compared = client.stats.compare([query, query.website("no.example")])
    comparison = compared[0]
    lists = [getattr(stats, name) for name in stats.requested if name in LISTS]
    return [
        (StatsQuery, query),
        (Stats, stats),
        (Succeeded, outcomes[0]),
        (Failed, outcomes[1]),
        (Outcome, outcomes[0]),
        (Outcome, outcomes[1]),
        (Outcomes, outcomes),
        (SiteStatsError, outcomes[1].error),
        (Comparison, comparison),
        (Comparisons, compared),
        *((Entries, entries) for entries in lists),
        *((Changes, changes) for changes in comparison.lists.values()),
        *((Change, change) for change in comparison.totals.values()),
    ]


LISTS = {*FIELDS, "events"} - {"pageviews", "visitors", "seconds_on_page"}


def results() -> list[tuple[Any, Any]]:
    """Types, and a result of each."""
    client = Emulator.demo().client()
    named = QUERY.during("last-month").timezone("Asia/Tokyo")
    stats = client.stats.get(QUERY)
    hours = client.stats.get(QUERY.interval("hour"))
    weeks = client.stats.get(QUERY.interval("week"))
    compared = client.stats.compare([QUERY])
    of_hours = client.stats.compare(QUERY.interval("hour"))
    websites = client.websites.list()
    plan, report = client.websites.plan(SPECS), client.websites.ensure(SPECS)
    return [
        *results_of(QUERY),
        (Stats[Literal["visitors", "pages"]], stats),
        (Succeeded[Literal["visitors"]], Succeeded(QUERY, 0, stats)),
        (Comparison[Literal["visitors"]], compared[0]),
        (StatsQuery, named),
        (NamedPeriod, NamedPeriod.from_dict(named.to_dict()["period"])),  # type: ignore[arg-type]
        (Stats, hours),
        (Entries[HistogramEntry], hours.histogram),
        (Entries[PageEntry], stats.pages),
        (Entries[HistogramEntry], weeks.histogram[:0]),
        (PageEntry, PageEntry("/a", 3, 2)),
        (TimedPageEntry, stats.pages[0]),
        (ListEntry, ListEntry(None, 3, 2)),
        (TimedListEntry, stats.countries[0]),
        (HistogramEntry, stats.histogram[0]),
        (HourEntry, hours.histogram[0]),
        (WeekEntry, weeks.histogram[0]),
        (EventCount, stats.events[0]),
        (ComparedPair, ComparedPair(Succeeded(QUERY, 0, stats), None)),
        (Comparison, of_hours),
        (Changes, of_hours["histogram"]),
        (EntryChange, of_hours["histogram"][0]),
        (EntryChange, compared[0]["pages"][0]),
        (EntryChange, compared[0]["events"][0]),
        (WebsiteList, websites),
        (Website, websites[0]),
        (AddedWebsite, client.websites.add("new.example")),
        (Problem, StatsQuery("a.example").problems()[0]),
        (WebsiteSpec, SPECS[1]),
        (ProvisioningPlan, plan),
        (ProvisioningReport, report),
        (ProvisionedWebsite, report.items[0]),
        (Difference, report.items[0].differences[0]),
        (SetupReport, client.check()),
        (sitestats.types.SetupRow, client.check().rows[0]),
    ]


RESULTS = results()


def said(value: Any) -> Any:
    """What makes values equal: of errors, too."""
    return (type(value), str(value)) if isinstance(value, Exception) else value


def copies_of(kind: Any, result: Any) -> dict[str, Any]:
    """The result after each way there and back."""
    text = json.dumps(result.to_dict())
    adapter = pydantic.TypeAdapter(dict[str, kind])
    by_cattrs = json.loads(json.dumps(CONVERTER.unstructure([result])))
    ways: dict[str, Callable[[], Any]] = {
        "from_dict": lambda: type(result).from_dict(json.loads(text)),
        "pydantic": lambda: adapter.validate_json(adapter.dump_json({"": result}))[""],
        "pydantic.python": lambda: adapter.validate_python({"": json.loads(text)})[""],
        "cattrs": lambda: CONVERTER.structure(by_cattrs, list[kind])[0],
        "pickle": lambda: pickle.loads(pickle.dumps(result)),
        "copy": lambda: copy.copy(result),
        "deepcopy": lambda: copy.deepcopy(result),
    }
    return {name: way() for name, way in ways.items()}


@pytest.mark.parametrize(("kind", "result"), RESULTS, ids=lambda one: str(one)[:40])
def test_a_value_comes_back_from_json(kind: Any, result: Any) -> None:
    """It is equal after each way there and back, and so is its JSON."""
    for way, again in copies_of(kind, result).items():
        assert type(again) is type(result), way
        assert said(again) == said(result), way
        assert again.to_dict() == result.to_dict(), way
        assert isinstance(result, Exception) or hash(again) == hash(result), way


def digest(value: Any, known: list[Any]) -> Any:
    """What a tool such as Streamlit or joblib hashes: plain values, the names of
    classes, the place of an object that is known, and otherwise what a pickle has.
    """
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, type):
        return value.__name__
    for place, one in enumerate(known):
        if one is value:
            return f"object {place}"
    known.append(value)
    if isinstance(value, dict):
        return [(name, digest(item, known)) for name, item in value.items()]
    if not isinstance(value, tuple | list):
        value = value.__reduce__()
        assert isinstance(value[0], type)
    return [digest(item, known) for item in value]


@pytest.mark.parametrize(("kind", "result"), RESULTS, ids=lambda one: str(one)[:40])
def test_tools_can_hash_results(kind: Any, result: Any) -> None:
    """They find classes and plain values alone, and the same ones in a copy."""
    if kind not in ENTRIES:
        again = pickle.loads(pickle.dumps(result))
        assert digest(result, []) == digest(again, [])


@given(queries())
@pytest.mark.filterwarnings("ignore::sitestats.SiteStatsWarning")
def test_results_of_any_query_come_back(query: StatsQuery) -> None:
    """Results come back whatever was requested, for any period and in any zone."""
    client = Emulator.demo().client()
    try:
        client.stats.get(query)
    except SiteStatsError:
        return
    for kind, result in results_of(query):
        for way, again in copies_of(kind, result).items():
            assert said(again) == said(result), way
            assert again.to_dict() == result.to_dict(), way


@pytest.mark.parametrize(("kind", "result"), RESULTS, ids=lambda one: str(one)[:40])
def test_json_is_as_its_schema_says(kind: Any, result: Any) -> None:
    """Each value is of its type, and pydantic's JSON is that of ``to_dict``."""
    adapter = pydantic.TypeAdapter(dict[str, kind])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = json.loads(adapter.dump_json({"one": result}))["one"]
    # As text: 3.0 is another number in JSON than 3, and a large one loses digits.
    texts = [json.dumps(one, sort_keys=True) for one in (made, result.to_dict())]
    assert texts[0] == texts[1]
    schema = adapter.json_schema(mode="serialization")
    assert schema == adapter.json_schema(mode="validation")
    assert "properties" in json.dumps(schema)


def test_a_schema_has_the_requested_fields() -> None:
    """They are required, with their nulls, and other ones are not named, but events:
    no type demands those, and a query may.
    """
    kind = Stats[Literal["pages", "seconds_on_page"]]
    schema = pydantic.TypeAdapter(kind).json_schema(mode="serialization")
    assert schema["title"] == "StatsOfPagesAndSecondsOnPage"
    assert {"pages", "seconds_on_page", "hostname"} <= {*schema["required"]}
    assert "visitors" not in schema["properties"]
    assert "events" in schema["properties"].keys() - {*schema["required"]}
    types = [one["type"] for one in schema["properties"]["seconds_on_page"]["anyOf"]]
    assert types == ["number", "null"]
    both = pydantic.TypeAdapter(Stats).json_schema(mode="serialization")
    assert {*FIELDS, "events"} <= both["properties"].keys() - {*both["required"]}


@pytest.mark.parametrize(("kind", "result"), RESULTS, ids=lambda one: str(one)[:40])
def test_other_json_is_refused(kind: Any, result: Any) -> None:
    """JSON may come from anybody: an error says what is wrong and where."""
    adapter = pydantic.TypeAdapter(kind)
    own: Any = get_origin(kind) or kind
    assert adapter.validate_python(result) is result
    for wrong in (None, 5, [result.to_dict()], {}, {"value": 5}):
        with pytest.raises(ValueError, match="validation error"):
            adapter.validate_python(wrong)
        if hasattr(own, "from_dict"):
            with pytest.raises(ValueError, match=r"."):
                own.from_dict(wrong)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"visitors": "3"}, r"\$\.visitors: expected an integer, got the string '3'"),
        ({"pages": [{"value": "/"}]}, r"\$\.pages\[0\]\.pageviews: is missing"),
        ({"query": None}, r"\$\.query: expected an object, got null"),
        ({"responded_at": "now"}, r"\$\.responded_at: expected a time"),
        ({"hostname": "other.example"}, "the response is about 'other.example'"),
    ],
)
def test_a_wrong_value_is_named(change: dict[str, Any], words: str) -> None:
    """The error has its path. A result is checked as the response to its query."""
    query = StatsQuery("a.example").fields("visitors", "pages")
    values = Stats.of(query, visitors=3, pages=[("/", 3, 2)]).to_dict()
    wrong = {**values, **change}
    if "visitors" in change or "pages" in change:
        problems = Stats.from_dict(wrong).problems
        text = "; ".join(map(str, problems))
    else:
        with pytest.raises(InvalidInputError) as caught:
            Stats.from_dict(wrong)
        text = str(caught.value)
    assert re.search(words, text), text


def test_json_that_people_write_has_no_other_names() -> None:
    """A misspelt name would add a website in UTC, which can't be changed, or count all
    pages in place of one.
    """
    spec = WebsiteSpec("a.example", timezone="Asia/Tokyo").to_dict()
    with pytest.raises(InvalidInputError) as caught:
        WebsiteSpec.from_dict({**spec, "tz": "Asia/Tokyo", "isPublic": True})
    assert [one.where for one in caught.value.problems] == ["$.isPublic", "$.tz"]
    assert "hostname, timezone, public, label" in str(caught.value)
    with pytest.raises(InvalidInputError, match="to_dict"):
        StatsQuery.from_dict({**QUERY.to_dict(), "path": "/blog/"})


def test_what_can_not_be_read_comes_back_as_unknown() -> None:
    """A list without some entries stays one, and tells of no zeros."""
    fields: Any = ("visitors", "pages", "seconds_on_page")
    query = StatsQuery("a.example").fields(*fields)
    page = {"value": "/", "pageviews": 3, "visitors": 2}
    body = {"visitors": "many", "pages": [page, {"value": 7}], "seconds_on_page": "?"}
    with pytest.warns(sitestats.SiteStatsWarning):
        stats = Stats.from_body(query, json.dumps(body).encode())
    again = Stats.from_dict(json.loads(json.dumps(stats.to_dict())))
    assert again.problems == stats.problems
    assert (again, again.pages.incomplete) == (stats, True)
    for name in ("visitors", "seconds_on_page"):
        with pytest.raises(sitestats.InvalidResponseError, match=name):
            getattr(again, name)


def test_a_wrong_value_is_unknown_beside_what_could_not_be_read() -> None:
    """It has a problem of its own, and does not become null on the way."""
    fields: Any = ("visitors", "pages", "seconds_on_page")
    query = StatsQuery("a.example").fields(*fields)
    body = {"visitors": "many", "pages": [], "seconds_on_page": 3}
    with pytest.warns(sitestats.SiteStatsWarning):
        values = Stats.from_body(query, json.dumps(body).encode()).to_dict()
    stats = Stats.from_dict({**values, "seconds_on_page": "?"})
    assert [problem.where for problem in stats.problems] == [
        "$.visitors",
        "$.seconds_on_page",
    ]
    again = Stats.from_dict(json.loads(json.dumps(stats.to_dict())))
    assert (again, again.problems) == (stats, stats.problems)
    assert "seconds_on_page" not in again


YEAR_1 = "0001-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("kind", "place", "value"),
    [
        (StatsQuery, ("website_timezone",), "Mars/Phobos"),
        (StatsQuery, ("website_timezone",), 5),
        (StatsQuery, ("period", "now"), YEAR_1),
        (StatsQuery, ("period", "count"), 10**30),
        (NamedPeriod, ("count",), 99_999),
        pytest.param(Change, ("now",), 10**400, id="too large for a float"),
        (Succeeded, ("index",), 2**63),
        (Stats, ("responded_at",), YEAR_1),
        (Stats, ("query", "website_timezone"), {}),
        (Entries[HistogramEntry], ("items", 0, "start"), YEAR_1),
        (Entries[HistogramEntry], ("items", 0, "hour"), 23),
        (HourEntry, ("date",), "2020-01-01"),
        (Changes, ("name",), "nothing"),
        (Changes, ("key",), "pageviews"),
        (Changes, ("items", 0, "counts", "pageviews"), ...),
    ],
)
def test_a_value_that_nothing_can_use_is_refused(
    kind: Any, place: tuple[Any, ...], value: Any
) -> None:
    """It is refused when it is read, and not by an error of Python where it is used.
    Here ``...`` takes a name out.
    """
    results = [result for one, result in RESULTS if one == kind]
    tried = 0
    for result in results:
        values = json.loads(json.dumps(result.to_dict()))
        inside = values
        for name in place[:-1]:
            inside = inside[name] if inside else None
        if not inside or place[-1] not in inside:
            continue
        if value is ...:
            del inside[place[-1]]
        else:
            inside[place[-1]] = value
        tried += 1
        with pytest.raises(ValueError, match=r"."):
            type(result).from_dict(values)
    assert tried


def test_days_without_a_moment_come_back() -> None:
    """A response may name its first and last day alone; words of the query don't."""
    query = StatsQuery("a.example").fields("visitors").last(days=7)
    body = {"visitors": 3, "start": "2026-03-01", "end": "2026-03-07"}
    stats = Stats.from_body(query, json.dumps(body).encode())
    again = Stats.from_dict(json.loads(json.dumps(stats.to_dict())))
    days = dt.date(2026, 3, 1), dt.date(2026, 3, 7)
    assert (stats.first_day, stats.last_day) == days
    assert (again.first_day, again.last_day) == days


def test_a_type_of_fields_refuses_a_result_without_them() -> None:
    """A view that needs visitors gets no body without any."""
    stats = Stats.of(StatsQuery("a.example").fields("pageviews"), pageviews=3)
    adapter = pydantic.TypeAdapter(Stats[Literal["visitors"]])
    for given_ in (stats, stats.to_dict()):
        with pytest.raises(ValueError, match="visitors: was not requested"):
            adapter.validate_python(given_)
    with pytest.raises(ValueError, match="has no PageEntry"):
        pydantic.TypeAdapter(Entries[PageEntry]).validate_python(
            Entries[ListEntry]([], name="countries", entry_type=ListEntry).to_dict()
        )


def returning(value: object) -> Any:
    """A view that returns *value*."""
    return lambda: value


def test_an_application_takes_and_returns_every_kind() -> None:
    """FastAPI reads each as a body, and returns it, with or without an annotation."""
    fastapi = pytest.importorskip("fastapi")
    client = pytest.importorskip("fastapi.testclient").TestClient
    app = fastapi.FastAPI()
    for number, (kind, result) in enumerate(RESULTS):

        def view(value: Any) -> Any:
            return value

        body = Annotated[kind, fastapi.Body()]
        view.__annotations__ = {"value": body, "return": kind}
        app.post(f"/{number}")(view)
        app.get(f"/{number}")(returning({"today": result}))
        anything = app.get(f"/any/{number}", response_model=dict[str, Any])
        anything(returning({"a": [result]}))
    with client(app) as browser:
        assert browser.get("/openapi.json").status_code == 200
        for number, (kind, result) in enumerate(RESULTS):
            if isinstance(result, Exception):
                continue
            sent = json.loads(json.dumps(result.to_dict()))
            response = browser.post(f"/{number}", json=sent)
            assert (kind, response.status_code, response.json()) == (kind, 200, sent)
            assert browser.post(f"/{number}", json={}).status_code == 422
            assert browser.get(f"/{number}").json() == {"today": sent}
            assert browser.get(f"/any/{number}").json() == {"a": [sent]}


def test_an_application_returns_what_is_not_read_again() -> None:
    """Tables, their columns, settings and headers, with or without an annotation."""
    fastapi = pytest.importorskip("fastapi")
    client = pytest.importorskip("fastapi.testclient").TestClient
    compared = Emulator.demo().client().stats.compare(QUERY)
    table, headers = compared.largest(1), compared.now.headers
    app = fastapi.FastAPI()
    results = {"retries": sitestats.RetryPolicy(), "table": table, "one": table.body[0]}
    for name, result in {**results, "headers": headers}.items():
        view = returning(result)
        view.__annotations__ = {"return": type(result)}
        app.get(f"/{name}")(view)
    app.get("/all")(returning(results))
    app.get("/any", response_model=dict[str, Any])(returning(results))
    sent = {
        name: json.loads(json.dumps(one.to_dict())) for name, one in results.items()
    }
    assert sent["table"]["body"][0] == sent["one"]
    for result in results.values():
        again = pickle.loads(pickle.dumps(result))
        assert digest(result, []) == digest(again, [])
    with client(app) as browser:
        assert browser.get("/openapi.json").status_code == 200
        for name, values in {**sent, "all": sent, "any": sent}.items():
            assert browser.get(f"/{name}").json() == values
        assert browser.get("/headers").json() == {**headers}


def test_a_part_of_a_result_is_returned() -> None:
    """What FastAPI has as ``response_model_include``, ``…_exclude`` and
    ``…_exclude_none`` is done for results as for models of pydantic.
    """
    query = StatsQuery("a.example").fields("visitors", "pages")
    stats = Stats.of(query, visitors=3, pages=[("/a", 3, 2)])
    adapter = pydantic.TypeAdapter(dict[str, Stats])

    def made(**options: Any) -> Any:
        return adapter.dump_python({"now": stats}, **options)["now"]

    assert made(include={"now": {"visitors"}}) == {"visitors": 3}
    assert made().keys() - made(exclude={"now": {"query"}}).keys() == {"query"}
    assert None in made().values()
    assert None not in made(exclude_none=True).values()
    assert None not in made(exclude_none=True)["query"].values()


def test_half_of_an_emoji_is_an_escape_in_json() -> None:
    """Visitors choose the text of pages, and it must not break a view: UTF-8 has no
    halves of surrogate pairs. In Python the value stays as it was sent.
    """
    query = StatsQuery("a.example").fields("pages")
    page = b'{"value": "/\\ud83d", "pageviews": 3, "visitors": 2}'
    stats = Stats.from_body(query, b'{"pages": [%s]}' % page)
    text = json.dumps(stats.to_dict(), ensure_ascii=False).encode().decode()
    assert json.loads(text)["pages"][0]["value"] == r"/\ud83d"
    assert pydantic.TypeAdapter(Stats).dump_json(stats)
    assert Stats.from_dict(json.loads(text)).pages[0].pageviews == 3
    assert stats.pages[0].value == "/\ud83d"
    assert stats.pages["/\ud83d"] == stats.pages[r"/\ud83d"] == stats.pages[0]


def test_every_public_result_is_a_type_for_pydantic() -> None:
    """Models of pydantic take each as a field, in a list and in a dict."""
    modules = (sitestats, sitestats.types, sitestats.provisioning)
    every = [getattr(one, name) for one in modules for name in dir(one)]
    found = {
        kind for kind in every if isinstance(kind, type) and hasattr(kind, "from_dict")
    }
    assert len(found) > 50
    for kind in found:
        pydantic.TypeAdapter(list[kind])
        pydantic.TypeAdapter(dict[str, kind]).json_schema()
    known = {type(result) for _, result in RESULTS}
    errors = {kind for kind in found if issubclass(kind, SiteStatsError)}
    others = {Outcomes, sitestats.AsyncOutcomes, sitestats.types.StoreStats}
    assert found - errors - known <= others
    assert NotFoundError in errors
    assert FieldNotRequestedError in errors
