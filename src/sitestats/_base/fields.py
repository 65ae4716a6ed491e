"""Names of the fields and of the envelope of a response (sections 2.3, 4.3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar as _TypeVar

    def TypeVar(name, default=None, **how):  # noqa: ANN001, ANN003, ANN202, ARG001, N802
        """A type variable; what it is without a subscript matters to checkers alone."""
        return _TypeVar(name, **how)


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

FieldName: TypeAlias = Literal[
    "pageviews", "visitors", "histogram", ListName, "seconds_on_page"
]
"""A field of the Stats API (section 4.3)."""

NameT = TypeVar("NameT", bound=FieldName)
FieldsT = TypeVar("FieldsT", default=Any)
FieldsT_co = TypeVar("FieldsT_co", covariant=True, default=Any)
"""The fields of a query; a list of unlike queries has the fields of all."""
FieldsT_contra = TypeVar("FieldsT_contra", contravariant=True, default=Any)
"""The fields of a result; more fields than a caller demands do no harm."""

TotalName: TypeAlias = Literal["pageviews", "visitors", "seconds_on_page"]
"""A field that is one number."""

CountName: TypeAlias = Literal["pageviews", "visitors"]
"""A field that is one whole number; entries of lists have it too."""

TableName: TypeAlias = ListName | Literal["histogram", "events"]
"""A list, the histogram or events, which have rows of their own in a frame."""

FIELDS: Final[tuple[FieldName, ...]] = get_args(FieldName)
"""All fifteen, in the document's order."""

COUNTS: Final[tuple[CountName, ...]] = get_args(CountName)
"""Both, in the document's order."""
TOTALS: Final[tuple[TotalName, ...]] = get_args(TotalName)
"""The fields that are one number each."""
TABLES: Final[tuple[TableName, ...]] = ("histogram", *get_args(ListName), "events")
"""All of them, in the document's order."""
LISTS: Final[tuple[ListName, ...]] = get_args(ListName)[1:]
"""The lists whose entries are alike; an entry of pages has a path as its value."""

ENVELOPE: Final[Mapping[str, Any]] = {
    "hostname": str | None,
    "path": str | None,
    "timezone": str | None,
    "version": int | None,
    "start": str | None,
    "end": str | None,
    "generated_in_ms": int | None,
}
"""What a response reports about itself, with the types in JSON."""
