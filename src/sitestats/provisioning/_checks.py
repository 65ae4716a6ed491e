"""Check the fields of website specifications, from code and from files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

import attrs

from sitestats._common.advice import Argument, Message
from sitestats._common.errors import SpecError
from sitestats._common.problems import Problem
from sitestats._common.text import did_you_mean, nearest, shown
from sitestats._protocol.requests import website_value

FIELDS: Final = ("hostname", "timezone", "public", "label")
"""The fields of a specification, in files too."""

LISTED: Final = {
    "is_public": "public",
    **dict.fromkeys(
        ("has_ssl", "has_script", "own_hostname", "pageviews", "events", "extra")
    ),
}
"""What a website in the service's list has beside its host name, zone and label
(section 2.1), with the field of a specification that means the same, if any."""

_LISTED: Final = LISTED.keys() - {"extra"} | {"hostname", "timezone", "label"}


Format: TypeAlias = Literal["toml", "json", "csv"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
"""The formats of files of specifications; each is also the extension of a name."""

DEFAULTS: Final = {"timezone": "UTC", "public": False, "label": None}
"""What a specification has where a file leaves a field out."""
RENAMED: Final = Argument("columns", {"FIELD": "NAME"})
"""How the caller says that a file calls a field by another name."""
MOST_SUGGESTIONS: Final = 50
"""The most suggestions for one file, since finding one takes some milliseconds."""
_MOST_SHOWN: Final = 5


@attrs.frozen
class Columns:
    """Which names of a file stand for which fields of a specification."""

    renamed: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The fields that have another name in the file."""
    ignore: bool = False
    """Whether any other name is left out, instead of being an error."""

    def fields(self, names: Iterable[str]) -> dict[str, str | None]:
        """The field that each of *names* stands for; None for none.

        The names of the whole list are those of a list that was saved, so that what
        the service alone decides is left out. One of them by itself is not left out
        unnoticed: its writer expects something of it.
        """
        names = list(names)
        is_list = set(names) >= _LISTED and "public" not in names
        found = {name: LISTED.get(name, name) if is_list else name for name in names}
        if self.ignore:
            found = {
                name: field if field in FIELDS and field not in self.renamed else None
                for name, field in found.items()
            }
        given = {column: field for field, column in self.renamed.items()}
        return found | {name: given[name] for name in names if name in given}

    def name_of(self, field: str) -> str:
        """What the file calls *field*."""
        return self.renamed.get(field, field)

    def advice(self, name: str, *, suggest: bool) -> str:
        """What to write instead of *name*, which stands for no field."""
        return (suggest and did_you_mean(name, FIELDS)) or (
            f": {', '.join(FIELDS)}; "
            + RENAMED
            + " gives one another name, and "
            + Argument("ignore_columns", value=True)
            + " leaves the others out"
        )


def check_columns(renamed: Mapping[str, str] | None, *, ignore: bool) -> Columns:
    """The names of a file, as the caller gave them.

    Raises:
        SpecError: One is for no field, or for two.
    """
    renamed = dict(renamed or {})
    problems = [
        Problem(
            f"{shown(field)} is not a field of a website"
            + (did_you_mean(field, FIELDS) or f": {', '.join(FIELDS)}"),
            rule="website-columns",
            where=Message(RENAMED),
        )
        for field in renamed
        if field not in FIELDS
    ]
    columns = list(renamed.values())
    problems += [
        Problem(
            f"the column {shown(column)} is given for two fields: give it for one",
            rule="website-columns",
            where=Message(RENAMED),
        )
        for index, column in enumerate(columns)
        if column in columns[:index]
    ]
    if problems:
        raise SpecError(problems)
    return Columns(renamed, ignore)


def ignored_names(names: Mapping[str, str | None]) -> str | None:
    """A note on the *names* that stand for no field and were left out."""
    left_out = [name for name, field in names.items() if field is None]
    # Those of the service's list are known, and meant.
    left_out = [name for name in left_out if name and name not in LISTED]
    if not left_out:
        return None
    return f"ignored columns: {_first_few([_ignored(name) for name in left_out])}"


def _ignored(name: str) -> str:
    right = nearest(name, FIELDS)
    return shown(name) + (
        "" if right in {None, name} else f" (did you mean {right!r}?)"
    )


def check_field(
    name: str, value: object, where: str = "", *, suggest: bool = True
) -> str | bool | Problem | None:
    """*value* in the form in which a specification keeps it, or its problem.

    To *suggest* a right one takes some milliseconds.
    """
    if name == "label" and value is None:
        return None
    checked = website_value(name, value, where, suggest=suggest)
    return checked[0] if isinstance(checked, list) else checked


def find_duplicates(hostnames: Iterable[tuple[str, str]]) -> list[Problem]:
    """A problem for each host name that came up before.

    Args:
        hostnames: Normalised host names, each with where it stands.
    """
    first: dict[str, str] = {}
    problems: list[Problem] = []
    for hostname, where in hostnames:
        earlier = first.setdefault(hostname, where)
        if earlier is not where:
            problems.append(
                Problem(
                    f"{hostname} is given twice, here and at {earlier} (capitals and "
                    "a dot at the end make no difference): leave one of them out",
                    rule="website-once",
                    where=where,
                )
            )
    return problems


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "left out" if value is None else shown(value)


@attrs.frozen
class Written:
    """One website of a file."""

    fields: dict[str, Any]
    """Its fields, checked."""
    hostname: str
    """The host name as it is written."""
    where: str


def merge_duplicates(
    websites: Iterable[Written],
) -> tuple[list[dict[str, Any]], str | None, list[Problem]]:
    """The websites of a file, each once; a note on those that were alike.

    Returns:
        The fields of each website with its host name as it is written, the note, and
        a problem for each that comes up again with other values.
    """
    kept: list[dict[str, Any]] = []
    first: dict[str, Written] = {}
    merged: list[str] = []
    problems: list[Problem] = []
    for website in websites:
        hostname = website.fields["hostname"]
        earlier = first.setdefault(hostname, website)
        if earlier is website:
            kept.append({**website.fields, "hostname": website.hostname})
            continue
        here, there = DEFAULTS | website.fields, DEFAULTS | earlier.fields
        if here == there:
            merged.append(f"{hostname} ({website.where} and {earlier.where})")
            continue
        others = ", ".join(
            f"{name} is {_text(here[name])} here and {_text(there[name])} there"
            for name in DEFAULTS
            if here[name] != there[name]
        )
        problems.append(
            Problem(
                f"{hostname} is given twice with different values, here and at "
                f"{earlier.where} ({others}): leave one of them out",
                rule="website-once",
                where=website.where,
            )
        )
    if not merged:
        return kept, None, problems
    note = (
        "websites that are given again with the same values count once "
        f"({len(merged):,} times): {_first_few(merged)}"
    )
    return kept, note, problems


def _first_few(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_SHOWN
    return ", ".join(texts[:_MOST_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
