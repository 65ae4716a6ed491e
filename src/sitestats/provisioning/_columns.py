"""Columns of a list of websites: which field each name stands for, and which none."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from sitestats._common.errors import SpecError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, nearest, shown

SPEC_FIELDS: Final = ("hostname", "timezone", "public", "label", "accept_differing")
"""The fields of a specification, in files too."""

_LISTED: Final = {
    "ispublic": "public",
    **dict.fromkeys(("hasssl", "hasscript", "ownhostname", "pageviews", "events")),
}
"""What a website in the service's list has beside its host name, zone and label
(section 2.1), with the field of a specification that means the same, if any."""
_SAVED: Final = _LISTED.keys() | {"hostname", "timezone", "label"}

_RENAMED: Final = "columns={'FIELD': 'NAME'}"
_MOST_SHOWN: Final = 5


def folded(name: str) -> str:
    """*name* without regard to case and marks, as columns are matched.

    >>> folded("Time-Zone:"), folded("Öffentlich")
    ('timezone', 'offentlich')
    """
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(filter(str.isalnum, letters))


@attrs.frozen
class NamedFields:
    """The fields that the names of a table, or of one website, stand for."""

    fields: tuple[str | None, ...]
    """One for each name; None for a name that is left out, or is wrong."""
    wrong: Mapping[int, str]
    """What is wrong with a name, by its index."""
    ignored: tuple[str, ...]
    """The names that are left out although nobody named them."""
    is_saved: bool
    """Whether the names are those of a list of the service that was saved."""


@attrs.frozen
class Columns:
    """Which names of a list stand for which fields of a specification."""

    renamed: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The fields that have another name in the list."""
    ignore: bool = False
    """Whether names that stand for no field are left out, instead of being an error."""
    left_out: frozenset[str] = frozenset()
    """The folded names that are left out, whatever they resemble."""
    fields: tuple[str, ...] = SPEC_FIELDS
    """The fields that are read."""

    def name_of(self, field: str) -> str:
        """What the list calls *field*."""
        return self.renamed.get(field, field)

    def named(self, names: Sequence[str]) -> NamedFields:
        """The fields that *names* stand for.

        The names of the whole list are those of a list that was saved, so that what
        the service alone decides is left out. One of them by itself is not left out
        unnoticed: its writer expects something of it. Neither is a name that resembles
        a field, since a website that was added can't be changed.
        """
        keys = [folded(name) for name in names]
        is_saved = {*keys} >= _SAVED and "public" not in keys
        known: dict[str, str | None] = {**_LISTED, "extra": None} if is_saved else {}
        known |= {
            folded(field): field
            for field in self.fields
            if not (self.ignore and field in self.renamed)
        }
        known |= {folded(self.name_of(field)): field for field in self.fields}
        known |= dict.fromkeys(self.left_out)
        missing = {*self.fields} - {known.get(key) for key in keys}
        fields: list[str | None] = []
        wrong: dict[int, str] = {}
        ignored: dict[str, None] = {}
        for index, (name, key) in enumerate(zip(names, keys, strict=True)):
            field = known.get(key)
            if key not in known:
                if self.ignore and nearest(key, missing) is None:
                    ignored |= {name: None} if name else {}
                else:
                    wrong[index] = self._unknown(name, missing)
            elif field is not None and field in fields:
                other = names[fields.index(field)]
                wrong[index] = (
                    f"{shown(name)} is given twice: leave one out"
                    if other == name
                    else f"{shown(other)} and {shown(name)} are both the {field}: "
                    "leave one out"
                )
                field = None
            fields.append(field)
        return NamedFields(tuple(fields), wrong, tuple(ignored), is_saved)

    def _unknown(self, name: str, missing: Iterable[str]) -> str:
        message = f"{shown(name)} is not a field of a website"
        right = nearest(folded(name), missing)
        if right is None:
            return (
                f"{message}: {', '.join(SPEC_FIELDS)}; {_RENAMED} gives one another "
                "name, and ignore_columns=True leaves the others out"
            )
        return (
            f"{message} (did you mean {right!r}?): rename it, or give "
            f"columns={{{right!r}: {shown(name)}}}, or leave it out with "
            f"ignore_column={shown(name)}"
        )

    def missing(self, named: NamedFields) -> list[str]:
        """What is wrong where a table lacks columns that it has to have."""
        names = {
            self.name_of(field): None
            for field in self.fields
            if field not in named.fields
            and (field == "hostname" or field in self.renamed)
        }
        return [
            f"there is no column {shown(name)}: add one, or name the one that is meant "
            "with " + _RENAMED
            for name in names
        ]


def check_columns(
    renamed: Mapping[str, str] | None,
    *,
    ignore: bool = False,
    left_out: str | Iterable[str] = (),
    fields: tuple[str, ...] = SPEC_FIELDS,
) -> Columns:
    """The names of a list, as the caller gave them.

    Raises:
        SpecError: One is for no field, or for two.
    """
    renamed = dict(renamed or {})
    columns = [*map(folded, renamed.values())]
    messages = [
        f"{shown(field)} is not a field of a website"
        + (did_you_mean(field, SPEC_FIELDS) or f": {', '.join(SPEC_FIELDS)}")
        for field in renamed
        if field not in SPEC_FIELDS
    ] + [
        f"the column {shown(column)} is given for two fields: give it for one"
        for index, column in enumerate(renamed.values())
        if columns[index] in columns[:index]
    ]
    if messages:
        where = _RENAMED
        raise SpecError(
            [Problem(text, rule="website-columns", where=where) for text in messages]
        )
    names = (left_out,) if isinstance(left_out, str) else left_out
    return Columns(renamed, ignore, frozenset(map(folded, names)), fields)


def ignored_names(names: Iterable[str]) -> list[str]:
    """A note on the *names* that stand for no field and were left out, if any."""
    shown_names = [shown(name) for name in dict.fromkeys(names)]
    return [f"ignored columns: {first_few(shown_names)}"] if shown_names else []


def first_few(texts: Sequence[str]) -> str:
    """The first of *texts*, and how many more there are."""
    more = len(texts) - _MOST_SHOWN
    return ", ".join(texts[:_MOST_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
