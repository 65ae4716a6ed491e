"""The tables of parameters and of versions: everything else agrees with them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping

import pytest

from children import run_changed
from inside import LATEST_VERSION, SENT_VERSION
from query.inside import (
    EMULATED_FILTERS,
    EMULATED_FORMS,
    EMULATED_LATEST,
    EMULATED_METADATA,
    MODULE_OF_VERSIONS,
    PARAMETERS,
    VERSIONS,
    WITH_HOURS,
    Parameter,
    checked_param,
)
from sitestats import Filters, InvalidInputError, StatsQuery
from sitestats.emulator import Emulator

DOCUMENTED = (
    *("version", "start", "end", "limit", "timezone", "info", "events", "interval"),
    *("fields", "page", "pages", "country", "referrer", "utm_source", "utm_medium"),
    *("utm_campaign", "utm_content", "utm_term", "browser_name", "os_name"),
    *("device_type", "metadata."),
)
# A filter of the future.
MADE_UP = Parameter("made_up", "where", is_filter=True)
NEXT = LATEST_VERSION + 1
# A program in which a new version has a row, and no other line is changed but the row
# of the version that is sent by default, where the new one is to be sent.
WITH_NEXT = """
    if "is_sent" in sys.argv[1]:
        text = text.replace(", is_sent=True),", "),")
    text = text.replace("        Version(5),", sys.argv[1] + ", Version(5),")
    """
ASK_NEXT = f"""
    from sitestats import InvalidInputError, StatsQuery

    query = StatsQuery("example.com").fields("histogram").where_metadata(plan="pro")
    hours = query.interval("hour")
    versions = {SENT_VERSION}, {NEXT}
    every = [hours, *(hours.version(number) for number in versions)]
    print([one.problems() for one in every])
    print([problem.message for problem in hours.version(5).problems()])
    print(query.params()["version"], *(query.version(number) for number in versions))
    try:
        query.version({NEXT} + 1)
    except InvalidInputError as error:
        print(error)
    """


def differences(rows: Mapping[str, Parameter]) -> Iterator[str]:
    """What differs between the table and what is written beside it, in words."""
    named = [n for n, row in rows.items() if row.step == "where"]
    signature = inspect.getdoc(StatsQuery.where) or ""
    documented = signature.partition("Args:")[2].partition("Raises:")[0]
    words = {word.strip(":,") for word in documented.split()}
    for name in named:
        if name not in Filters.__annotations__:
            yield f"the keys of Filters lack {name}"
        if name not in words:
            yield f"the docstring of where lacks {name}"
        if name not in EMULATED_FILTERS:
            yield f"the filters of the emulator lack {name}"
    for name in {*Filters.__annotations__, *EMULATED_FILTERS} - {*named}:
        yield f"the filter {name} has no row"
    for name, row in rows.items():
        if name not in {*EMULATED_FORMS, EMULATED_METADATA} and row.step != "where":
            yield f"the parameters of the emulator lack {name}"
        if not callable(getattr(StatsQuery, row.step, None)):
            yield f"StatsQuery has no step {row.step}"
    for name in EMULATED_FORMS.keys() - rows.keys() - {"callback"}:
        yield f"the parameter {name} has no row"


def test_the_table_has_the_documents_parameters_in_its_order() -> None:
    """Section 4.3 has nine parameters, twelve filters, and metadata by their keys."""
    assert tuple(PARAMETERS) == DOCUMENTED
    assert all(name == row.name for name, row in PARAMETERS.items())


def test_what_type_checkers_and_the_emulator_have_agrees_with_the_table() -> None:
    """A filter that a type checker completes can be sent; the emulator, which keeps
    its own list of the document's parameters, has the same.
    """
    assert [*differences(PARAMETERS)] == []


def test_what_is_missing_beside_the_table_is_named() -> None:
    """Who adds a row alone is told each other place that needs the name, and who takes
    one away each place that still has it.
    """
    assert [*differences({**PARAMETERS, "made_up": MADE_UP})] == [
        "the keys of Filters lack made_up",
        "the docstring of where lacks made_up",
        "the filters of the emulator lack made_up",
    ]
    rows = {name: row for name, row in PARAMETERS.items() if name != "country"}
    assert [*differences(rows)] == [
        "the filter country has no row",
        "the parameter country has no row",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("version", "0"), ("start", "soon"), ("end", "soon"), ("limit", "0")),
        *(("timezone", "nowhere"), ("info", "maybe"), ("events", ""), ("fields", "x")),
        *(("interval", "decade"), ("metadata.-", "x")),
        *((name, "") for name in Filters.__annotations__),
    ],
)
def test_a_text_is_refused_by_the_rule_of_its_section(name: str, text: str) -> None:
    """The text of an address is checked as the step does, and the error names the
    section that the row names.
    """
    row = PARAMETERS["metadata." if name.startswith("metadata.") else name]
    with pytest.raises(InvalidInputError) as caught:
        checked_param(name, text)
    assert {problem.section for problem in caught.value.problems} == {row.section}


def test_every_parameter_is_sent_in_the_order_of_the_table() -> None:
    """Whatever the order of the steps, the parameters have the table's order; metadata
    follow by their keys, and last what the document does not have.
    """
    query = (
        StatsQuery("example.com")
        .extra_param("a", "1")
        .where_metadata(plan="pro", age=3)
        .where(device_type="tv", country="NL", page="/a")
        .fields("visitors")
        .timezone("UTC")
        .limit(3)
        .last(days=3)
    )
    names = [*query.params()]
    known = [name for name in names if name in PARAMETERS]
    assert known == [name for name in PARAMETERS if name in known]
    assert names == [*known, "metadata.age", "metadata.plan", "a"]


@pytest.mark.parametrize(
    "name", [n for n in DOCUMENTED if n in Filters.__annotations__]
)
def test_every_filter_can_be_sent_read_and_written(name: str) -> None:
    """Each filter of the table is taken by ``where``, leaves traffic out, stands in
    the repr, is read from an address, and is known to the emulator.
    """
    value = {"device_type": "tv", "page": "/nobody", "pages": "/nobody"}.get(name, "zz")
    query = StatsQuery("semicomplete.com").fields("pageviews").where(**{name: value})
    assert f".where({name}={value!r})" in repr(query)
    assert StatsQuery.from_url(query.url("https://x.example")) == query
    with Emulator.demo().client() as client:
        assert client.stats.get(query.last(days=4)).pageviews == 0


# --- versions -----------------------------------------------------------------------


def with_next(row: str) -> list[str]:
    """What a program prints in which the table of versions has this *row*, too."""
    done = run_changed(MODULE_OF_VERSIONS, WITH_NEXT, ASK_NEXT, row)
    assert done.stderr == ""
    return done.stdout.splitlines()


CODE = "StatsQuery('example.com').fields('histogram').where_metadata({'plan': 'pro'})"


def test_a_new_version_is_a_row() -> None:
    """A new version that is known can be requested; the one before is still sent, and
    keeps its hours and metadata filters, and older ones get the same advice for them.
    """
    problems, advice, sent, most = with_next(f"Version({NEXT})")
    assert problems == "[(), (), ()]"
    assert advice.count(f"use .version({WITH_HOURS})") == 2
    assert sent == f"{SENT_VERSION} {CODE} {CODE}.version({NEXT})"
    assert f"from 1 to {NEXT}" in most


def test_another_version_can_be_the_one_that_is_sent() -> None:
    """What is known, what is sent by default and what has hours are three facts."""
    problems, advice, sent, _ = with_next(f"Version({NEXT}, is_sent=True)")
    assert problems == "[(), (), ()]"
    assert advice.count(f"use .version({WITH_HOURS})") == 2
    assert sent == f"{NEXT} {CODE}.version({SENT_VERSION}) {CODE}"


def test_the_emulator_knows_the_same_versions() -> None:
    """The emulator's latest version is the last row of the table."""
    assert max(VERSIONS) == EMULATED_LATEST
    form = EMULATED_FORMS["version"]
    assert all(form.keeps(str(number)) for number in VERSIONS)
    assert not form.keeps(str(max(VERSIONS) + 1))
