"""The tables of parameters and of versions: everything else agrees with them."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

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
)
from sitestats import Filters, StatsQuery
from sitestats.emulator import Emulator

DOCUMENTED = (
    *("version", "start", "end", "limit", "timezone", "info", "events", "interval"),
    *("fields", "page", "pages", "country", "referrer", "utm_source", "utm_medium"),
    *("utm_campaign", "utm_content", "utm_term", "browser_name", "os_name"),
    *("device_type", "metadata."),
)
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


def differences() -> Iterator[str]:
    """What differs between the table and what is written beside it, in words."""
    rows = PARAMETERS
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
    assert [*differences()] == []


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
