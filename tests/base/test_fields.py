"""The table of the fields: everything else agrees with it, and follows from it."""

from __future__ import annotations

import pytest

from base.field_table import differences, emulator_differences
from base.inside import FIELD_ROWS, MODULE_OF_FIELDS, Field
from children import run_changed
from sitestats import Stats, StatsQuery
from sitestats.emulator import Emulator

DOCUMENTED = (
    *("pageviews", "visitors", "histogram", "pages", "countries", "referrers"),
    *("utm_sources", "utm_mediums", "utm_campaigns", "utm_contents", "utm_terms"),
    *("browser_names", "os_names", "device_types", "seconds_on_page", "events"),
)
# A field of the future.
RATE = Field("made_up", "number", "A made-up share")
# A program in which a field has one more row, and a name for type checkers.
WITH_RATE = """
    text = text.replace('"seconds_on_page"]', '"seconds_on_page", "made_up"]')
    if "row" in sys.argv:
        row = 'Field("made_up", "number", "A share", heading="bounces"),'
        text = text.replace('Field("events"', row + 'Field("events"')
    """
READ_RATE = """
    from sitestats import Stats, StatsQuery

    Stats.made_up = property(lambda stats: stats._value("made_up"))
    query = StatsQuery("example.com").fields("made_up", "visitors").on("2026-03-01")
    stats = Stats.of(query, made_up=0.25, visitors=4)
    assert "bounces" in stats._repr_html_()
    frame = stats.to_pandas()
    print(stats.to_dict()["made_up"], frame.dtypes["made_up"])
    wrong = stats.body.replace(b"0.25", b"[1]")
    print(Stats.from_body(query, wrong).problems)
    """


def test_the_table_has_the_documents_fields_in_its_order() -> None:
    """Section 4.3 has fifteen fields, and section 2.3 the counts of events."""
    assert tuple(FIELD_ROWS) == DOCUMENTED
    assert all(name == row.name for name, row in FIELD_ROWS.items())


def test_what_type_checkers_read_agrees_with_the_table() -> None:
    """A name that a type checker completes is a field, and its type is right."""
    assert differences(FIELD_ROWS) == []


def test_what_is_missing_beside_the_table_is_named() -> None:
    """Who adds a row alone is told each other place that needs the name."""
    missing = differences({**FIELD_ROWS, "made_up": RATE})
    assert missing == [
        "the names of FieldName lack made_up",
        "the names of TotalName lack made_up",
        "the properties of Stats lack made_up",
        "the keys of StatsValues lack made_up",
    ]


def test_what_has_no_row_is_named() -> None:
    """Who takes a row away is told each place that still has the name."""
    rows = {name: row for name, row in FIELD_ROWS.items() if name != "visitors"}
    assert len(differences(rows)) == len({*differences(rows)}) > 4
    assert all("have visitors" in words for words in differences(rows))


def test_the_emulator_has_the_same_fields() -> None:
    """The emulator keeps its own list of the document's fields, and they agree."""
    assert emulator_differences(FIELD_ROWS) == []
    assert emulator_differences({**FIELD_ROWS, "made_up": RATE}) == [
        "the fields of the emulator lack made_up"
    ]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_each_field_can_be_requested_and_read(name: str) -> None:
    """Each row's field comes from the service, under its own name."""
    query = StatsQuery("semicomplete.com").last(days=4)
    requested = query.all_events() if name == "events" else query.fields(name)
    with Emulator.demo().client() as client:
        stats: Stats = client.stats.get(requested)
    value = getattr(stats, name)
    is_total = FIELD_ROWS[name].kind in {"count", "number"}
    assert is_total == isinstance(value, int | float | None)
    columns = stats.columns() if is_total else value.columns()
    assert (name in columns) == is_total


def test_a_field_without_a_row_fails_at_import() -> None:
    """A name that no row describes is an error at import, which says what is missing,
    and not a wrong type in a response.
    """
    done = run_changed(MODULE_OF_FIELDS, WITH_RATE, "from sitestats import Stats")
    assert "TypeError: the field 'made_up' has no row" in done.stderr


def test_a_new_number_needs_no_more_than_its_row() -> None:
    """A new number is requested, made for a test, read, refused unless it is a number,
    framed and displayed by its row alone.
    """
    done = run_changed(MODULE_OF_FIELDS, WITH_RATE, READ_RATE, "row")
    assert done.stderr == ""
    first, second = done.stdout.splitlines()
    assert first == "0.25 float64"
    assert "$.made_up" in second
