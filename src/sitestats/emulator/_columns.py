"""Columns of the raw export: their names, checks, and conversion in SQL."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from ._parameters import DEVICES

COLUMNS: Final = (
    *("added_iso", "hostname", "datapoint", "path", "is_unique", "is_robot"),
    *("document_referrer", "utm_source", "utm_medium", "utm_campaign", "utm_content"),
    *("utm_term", "duration_seconds", "device_type", "country_code"),
    *("browser_name", "os_name", "browser_version", "os_version"),
)
"""The columns that responses are computed from; others are not stored."""

TYPES: Final = ("text", "int", "bool", "date")
"""The types that metadata is stored as (section 4.3)."""

PREFIX: Final = "metadata."

_METADATA: Final = re.compile(r"metadata\.(.*)_(text|int|bool|date)", re.DOTALL)

_IS_TIME: Final = (
    "(regexp_matches({}, '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}"
    "(:[0-9]{2}(\\.[0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})$') "
    "AND try_cast({} AS TIMESTAMPTZ) IS NOT NULL)"
)
_IS_BOOL: Final = "(lower({}) IN ('true', 'false'))"
_IS_INT: Final = "regexp_matches({}, '^-?[0-9]+(\\.[0-9]+)?$')"
_IS_SECONDS: Final = "coalesce(try_cast({} AS DOUBLE) BETWEEN 0 AND 1e12, false)"

CHECKS: Final = {
    "added_iso": _IS_TIME,
    "is_unique": _IS_BOOL,
    "is_robot": _IS_BOOL,
    "duration_seconds": _IS_SECONDS,
    "device_type": f"({{}} IN ({', '.join(map(repr, DEVICES))}))",
}
"""SQL that is true for the valid values of a column."""

ALLOWED: Final = {"device_type": DEVICES}
"""The columns that have a few values alone (section 2.3)."""

METADATA_CHECKS: Final = {"int": _IS_INT, "bool": _IS_BOOL, "date": _IS_TIME}

# Known search engines and networks: one name for their hosts in every country.
REFERRER: Final = r"""
nullif(regexp_replace(regexp_replace(regexp_replace(lower(regexp_extract(
    regexp_replace(document_referrer, '^[A-Za-z][A-Za-z0-9+.-]*://', ''),
    '^[^/?#]*')), ':[0-9]+$', ''), '^www\.', ''),
    '^(google|bing|yahoo|duckduckgo|baidu|yandex|ecosia|facebook|twitter)'
    '\.[a-z]{2,3}(\.[a-z]{2})?$', '\1'), '')
"""
"""SQL for the referrer in filters and lists: ``google``, ``news.example``."""


@attrs.frozen
class MetadataKey:
    """A metadata key, as filters name it, and the type of its stored values."""

    key: str
    type: str

    @classmethod
    def of(cls, column: str) -> MetadataKey:
        """Parse the column name ``metadata.<key>_<type>``.

        Raises:
            ValueError: The name has another form.
        """
        found = _METADATA.fullmatch(column)
        # Keys are stored normalised: other characters become underscores.
        name = re.sub("[^a-zA-Z0-9]+", "_", found[1]).strip("_") if found else ""
        if found is None or not name:
            raise ValueError(
                f"{column!r}: name a metadata column metadata.<key>_<type>, "
                f"with one of the types {', '.join(TYPES)}"
            )
        return cls(name, found[2])

    @property
    def sql_type(self) -> str:
        """The DuckDB type of its column."""
        return {"bool": "BOOLEAN", "date": "TIMESTAMP"}.get(self.type, "VARCHAR")

    def stored(self, text: str) -> str:
        """SQL for the stored value; *text* is SQL for the value as text."""
        if self.type == "bool":
            return f"{text}::BOOLEAN"
        if self.type == "date":
            return instant(text)
        return _canonical(text) if self.type == "int" else text


def metadata_keys(names: Sequence[str]) -> dict[str, MetadataKey]:
    """The metadata columns among *names*, with their keys.

    Raises:
        ValueError: A name is invalid, or two columns have the same key.
    """
    found: dict[str, MetadataKey] = {}
    for name in names:
        if name.startswith(PREFIX):
            key = MetadataKey.of(name)
            if key in found.values():
                raise ValueError(f"{name!r} has the same key as another column")
            found[name] = key
        elif name not in COLUMNS:
            near = difflib.get_close_matches(name, COLUMNS, 1, cutoff=0.85)
            # Exports have columns that no response needs, so only a name that
            # looks like a typing error is refused: its column would stay empty.
            if near and near[0] not in names:
                raise ValueError(
                    f"there is no column {name!r}: did you mean {near[0]!r}?"
                )
    return found


def checks(texts: Mapping[str, str], keys: Mapping[str, MetadataKey]) -> dict[str, str]:
    """SQL that is true for valid values, for each column that is checked.

    *texts* has SQL for each column's value as text.
    """
    rules = {name: rule for name, rule in CHECKS.items() if name in texts}
    rules |= {
        name: METADATA_CHECKS[key.type]
        for name, key in keys.items()
        if key.type in METADATA_CHECKS
    }
    return {name: rule.replace("{}", texts[name]) for name, rule in rules.items()}


def instant(text: str) -> str:
    """SQL for a time in UTC; *text* is SQL for the time as text."""
    return f"make_timestamp(epoch_us(try_cast({text} AS TIMESTAMPTZ)))"


def _canonical(text: str) -> str:
    """SQL for a number in canonical form, so that equal numbers are equal texts."""
    whole = f"regexp_replace({text}, '^(-?)0+([0-9])', '\\1\\2')"
    short = f"regexp_replace({whole}, '(\\.[0-9]*?)0+$', '\\1')"
    return f"regexp_replace(regexp_replace({short}, '\\.$', ''), '^-0$', '0')"
