"""The fields of the Stats API and what is known of them: a table with a row for each.

What is read, shown, compared, stored and made for tests follows from the row of a
field. Type checkers can't read a table: the names below, the properties of ``Stats``
and ``StatsValues`` are written beside it, and a test names what is missing there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import attrs

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar as _TypeVar

    def TypeVar(name, default=None, **how):  # noqa: ANN001, ANN003, ANN202, ARG001, N802
        """A type variable; what it is without a subscript matters to checkers alone."""
        return _TypeVar(name, **how)


# --- the names, for type checkers ---------------------------------------------------

ListName: TypeAlias = Literal[
    "pages",
    "countries",
    "referrers",
    "utm_sources",
    "utm_mediums",
    "utm_campaigns",
    "utm_contents",
    "utm_terms",
    "browser_names",
    "os_names",
    "device_types",
]
"""A field whose entries are counted values, which two periods can be compared by."""

TotalName: TypeAlias = Literal["pageviews", "visitors", "seconds_on_page"]
"""A field that is one number."""

CountName: TypeAlias = Literal["pageviews", "visitors"]
"""A field that is one whole number; entries of lists have it too."""

FieldName: TypeAlias = Literal[TotalName, "histogram", ListName]
"""A field of the Stats API (section 4.3)."""

TableName: TypeAlias = Literal["histogram", ListName, "events"]
"""A list, the histogram or events, which have rows of their own in a frame."""

Requested: TypeAlias = Literal[FieldName, "events"]
"""What a response can have: a field, or the counts of events."""

NameT = TypeVar("NameT", bound=FieldName)
FieldsT = TypeVar("FieldsT", bound=FieldName, default=Any)
FieldsT_co = TypeVar("FieldsT_co", bound=FieldName, covariant=True, default=Any)
"""The fields of a query; a list of unlike queries has the fields of all."""
FieldsT_contra = TypeVar("FieldsT_contra", contravariant=True, default=Any)
"""The fields of a result; more fields than a caller demands do no harm."""


# --- the table ----------------------------------------------------------------------

FieldKind: TypeAlias = Literal[
    "count", "number", "list", "pages", "histogram", "events"
]
"""A whole number, a number with a fraction, or what the entries of a list are."""


def _words(row: Field) -> str:
    """The words of its name."""
    return row.name.replace("_", " ").replace("utm ", "UTM ")


@attrs.frozen
class Field:
    """What is known of one field."""

    name: Requested
    """Its name in requests, responses and results, and of its column in frames."""
    kind: FieldKind
    about: str
    """What it is, in a database's comment on its column or table."""
    heading: str = attrs.field(
        default=attrs.Factory(_words, takes_self=True), kw_only=True
    )
    """What stands above it in tables and charts."""
    nullable: bool = attrs.field(default=False, kw_only=True)
    """Whether it is null, or left out, where the service has too little to tell."""
    in_entries: Literal["always", "if requested", "never"] = attrs.field(
        default="never", kw_only=True
    )
    """Whether entries of lists have it too: with every request, or with one for it."""
    in_histogram: bool = attrs.field(default=False, kw_only=True)
    """Whether entries of the histogram have it too."""
    searchable: bool = attrs.field(default=False, kw_only=True)
    """Whether a contains search can request it (section 4.3)."""
    unnamed: str = attrs.field(default="(unknown)", kw_only=True)
    """What stands for an entry of the list without a value."""


FIELD_ROWS: Final[Mapping[str, Field]] = {
    row.name: row
    for row in (
        Field(
            "pageviews",
            "count",
            "Page views",
            heading="page views",
            in_entries="always",
            in_histogram=True,
            searchable=True,
        ),
        Field(
            "visitors",
            "count",
            "Visitors, who may not add up over days",
            in_entries="always",
            in_histogram=True,
            searchable=True,
        ),
        Field("histogram", "histogram", "Page views and visitors", searchable=True),
        Field("pages", "pages", "The most visited pages"),
        Field("countries", "list", "Codes of countries"),
        Field("referrers", "list", "Where visitors came from", unnamed="(none)"),
        Field("utm_sources", "list", "Values of utm_source", unnamed="(none)"),
        Field("utm_mediums", "list", "Values of utm_medium", unnamed="(none)"),
        Field("utm_campaigns", "list", "Values of utm_campaign", unnamed="(none)"),
        Field("utm_contents", "list", "Values of utm_content", unnamed="(none)"),
        Field("utm_terms", "list", "Values of utm_term", unnamed="(none)"),
        Field("browser_names", "list", "Names of browsers", heading="browsers"),
        Field(
            "os_names",
            "list",
            "Names of operating systems",
            heading="operating systems",
        ),
        Field("device_types", "list", "Kinds of devices", heading="devices"),
        Field(
            "seconds_on_page",
            "number",
            "The median of the seconds on a page",
            heading="median seconds",
            nullable=True,
            in_entries="if requested",
        ),
        Field("events", "events", "How often each event happened"),
    )
}
"""The row of each field by its name, in the document's order; events are last."""

for _name in get_args(Requested):
    if _name not in FIELD_ROWS:
        raise TypeError(f"the field {_name!r} has no row in FIELD_ROWS")


# --- what follows from it -----------------------------------------------------------


def _names(is_such: Callable[[Field], bool]) -> Any:
    """The names of such rows."""
    return tuple(row.name for row in FIELD_ROWS.values() if is_such(row))


FIELDS: Final[tuple[FieldName, ...]] = _names(lambda row: row.kind != "events")
"""All that ``fields`` takes, in the document's order."""

TOTALS: Final[tuple[TotalName, ...]] = _names(
    lambda row: row.kind in {"count", "number"}
)
"""The fields that are one number each."""

TABLES: Final[tuple[TableName, ...]] = _names(lambda row: row.name not in TOTALS)
"""What has rows of its own, in the document's order."""

LISTS: Final[tuple[ListName, ...]] = _names(lambda row: row.kind == "list")
"""The lists whose entries are alike; an entry of pages has a path as its value."""


COUNTS: Final[tuple[CountName, ...]] = _names(lambda row: row.in_entries == "always")
"""The totals that every entry of a list has, too."""

IF_REQUESTED: Final[tuple[TotalName, ...]] = _names(
    lambda row: row.in_entries == "if requested"
)
"""The totals that entries of lists have where they were requested."""

HISTOGRAM_COUNTS: Final[tuple[str, ...]] = _names(lambda row: row.in_histogram)
"""The totals that every entry of a histogram has, too."""

SEARCHABLE: Final = frozenset[str](_names(lambda row: row.searchable))
"""The fields that a contains search can request (section 4.3)."""

NULLABLE: Final = frozenset[str](_names(lambda row: row.nullable))
"""The fields that are null where the service has too little to tell."""


def entry_counts(name: str) -> tuple[str, ...]:
    """The counts of an entry of a list, by the list's name."""
    match FIELD_ROWS[name].kind:
        case "events":
            return ("total",)
        case "histogram":
            return HISTOGRAM_COUNTS
        case _:
            return COUNTS


ENVELOPE: Final[Mapping[str, Any]] = {
    "hostname": str | None,
    "path": str | None,
    "timezone": str | None,
    "version": int | None,
    "start": str | None,
    "end": str | None,
    "generated_in_ms": int | float | None,
}
"""What a response reports about itself, with the types in JSON."""
