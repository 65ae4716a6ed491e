"""The values of filters, for a query of each: ``StatsQuery.each(country=…)``.

Values that are typed are strict, as in ``where``. The values of a result are what
visitors chose: those that no filter can name are left out, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, Protocol, TypeAlias, cast

from sitestats._base.errors import InvalidInputError, warn
from sitestats._base.fields import FIELD_ROWS
from sitestats._base.text import counted, shown
from sitestats._words import argument_advice

from .parameters import FILTERS, checked_filter, warn_of_mistakes
from .rules import MetadataValue, Problems, are_several, metadata, one_of, refusal


class HasValue(Protocol):
    """What has a value, as an entry of a list has."""

    @property
    def value(self) -> object:
        """What is counted, such as a country's code."""
        ...


SeveralValues: TypeAlias = str | Iterable[str | Iterable[str] | HasValue]
"""Values of a filter: texts, or the entries of a list of a result."""
SeveralMetadata: TypeAlias = Mapping[str, MetadataValue | Iterable[MetadataValue]]
"""Values of metadata filters, by their keys."""
Filter: TypeAlias = tuple[str, str]
"""The name of a filter as it is sent, and its text."""

_LISTS: Final = {"page": "pages", "pages": "pages", "country": "countries"}
"""The lists whose values filters take; the others have the filter's name with an s."""
_MOST_NAMED: Final = 3
"""The most values that a warning names."""


def filters_of(name: str, values: object) -> list[Filter]:
    """The filter *name* with each of the *values*, each once.

    Raises:
        InvalidInputError: There is no such filter, a typed value breaks a rule, or the
            values are of another list.
    """
    where = f"each({name}=…)"
    _check_values(name, values, where)
    # A text is one value, although it can be iterated.
    given: list[Any] = [values] if isinstance(values, str) else [*cast("Any", values)]
    is_listed = bool(given) and all(map(_is_entry, given))
    texts = _of_entries if is_listed else _typed
    return [(name, text) for text in dict.fromkeys(texts(name, given, where))]


def _is_entry(value: object) -> bool:
    return hasattr(value, "value") and not isinstance(value, str)


def _typed(name: str, values: list[Any], where: str) -> list[str]:
    """The texts of values that somebody typed: a mistake is refused."""
    with Problems() as problems:
        texts = [problems.check(_typed_text, name, value, where) for value in values]
    found = [text for text in texts if text is not None]
    for text in found:
        warn_of_mistakes(name, text, where)
    return found


def _typed_text(name: str, value: object, where: str) -> str:
    if value is None:
        raise refusal("filter-text", "None is not a value: leave it out", where)
    return checked_filter(name, value, where) or ""


def _of_entries(name: str, entries: list[Any], where: str) -> list[str]:
    """The texts of entries that a filter can name: visitors chose them."""
    found: list[str] = []
    left_out: list[str] = []
    for entry in entries:
        text = None
        with suppress(InvalidInputError):
            text = checked_filter(name, entry.value)
        # A star at the end would match more than this one value.
        if text is None or text.endswith("*"):
            is_known = entry.value not in {None, ""}
            left_out.append(shown(entry.value) if is_known else "the unknown value")
        else:
            found.append(text)
    if left_out:
        few = left_out[:_MOST_NAMED]
        more = ", …" if len(left_out) > len(few) else ""
        warn(
            f"{where} leaves out {counted(len(left_out), 'value')} that no filter can "
            f"name: {', '.join(few)}{more}"
        )
    return found


def metadata_of(key: str, values: object) -> list[Filter]:
    """The metadata filter of this *key* with each of the *values*, each once.

    Raises:
        InvalidInputError: The key or a value breaks a rule.
    """
    given = [*cast("Any", values)] if are_several(values) else [values]
    found: dict[Filter, None] = {}
    for value in given:
        name, text = metadata(key, value)
        if text is None:
            message = "None is not a value: leave it out"
            raise refusal("metadata-value", message, f"each(metadata={{{key!r}: …}})")
        warn_of_mistakes(name, text)
        found[name, text] = None
    return [*found]


def websites_in(given: Any) -> Iterable[Any]:
    """The websites, or host names, that *given* has.

    Raises:
        InvalidInputError: It has none; the message says what to give.
    """
    where = "each(websites=…)"
    _check_is_column(given, "frame['hostname']", "hostname", where)
    # A str is one name, although it can be iterated, and so is a row.
    if isinstance(given, str) or hasattr(given, "hostname"):
        return [given]
    if not hasattr(given, "__iter__"):
        message = (
            "websites are a list of host names, or of client.websites.list(), not "
            f"{shown(given)}"
        )
        raise refusal("hostname", message, where)
    return cast("Iterable[Any]", given)


def _check_is_column(given: object, example: str, rule: str, where: str) -> None:
    """Refuse a table, whose values would be its columns' names."""
    is_frame = len(getattr(given, "shape", ())) > 1
    if isinstance(given, Mapping) or is_frame:
        message = f"give one column of it, such as {example}"
        raise refusal(rule, message, where)


def _check_values(name: str, values: Any, where: str) -> None:
    """Check that there is such a filter, and that the *values* can be its values."""
    if advice := argument_advice("StatsQuery", "each", name):
        message = f"{shown(name)} is not a filter: {advice}"
        raise refusal("filter-name", message, "each")
    known = (*FILTERS, "unit", "websites", "metadata")
    one_of(name, known, "filter-name", "a filter", "each")
    _check_is_column(values, "frame['value']", "filter-text", where)
    if not isinstance(values, str) and not are_several(values):
        message = f"give its values, such as ['a', 'b'], not {shown(values)}"
        raise refusal("filter-text", message, where)
    # The entries of a list know whose they are.
    field = getattr(values, "name", None)
    wanted = _LISTS.get(name, f"{name}s")
    if isinstance(field, str) and field in FIELD_ROWS and field != wanted:
        message = f"these are entries of {field}: give entries of {wanted}"
        raise refusal("filter-text", message, where)
