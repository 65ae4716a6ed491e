"""Check the fields of website specifications, from code and from lists."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import attrs

from sitestats._common.problems import Problem
from sitestats._common.text import shown
from sitestats._protocol.requests import website_value

from ._columns import SPEC_FIELDS, first_few
from ._csv import Value, file_problem

DEFAULT_ZONE: Final = "UTC"
"""The zone in which a website is added whose specification leaves it out."""
_SAME: Final = {"timezone": DEFAULT_ZONE, "public": False, "accept_differing": False}
"""What means the same as nothing in a list."""


@attrs.frozen
class Listed:
    """One website of a list, unchecked."""

    where: str
    fields: dict[str, Value] = attrs.field(factory=dict[str, Value])
    problems: tuple[Problem, ...] = ()
    """What is wrong with its form."""


def check_field(
    name: str, value: object, where: str = ""
) -> str | bool | Problem | None:
    """*value* in the form in which a specification has it, or its problem."""
    if value is None and name != "hostname":
        return None
    if name == "accept_differing":
        if isinstance(value, bool):
            return value
        message = f"accept_differing is true or false, not {shown(value)}"
        return Problem(message, rule="website-accept-differing", where=where or name)
    checked = website_value(name, value, where)
    return checked[0] if isinstance(checked, list) else checked


def check_listed(
    entries: Iterable[Listed], hostname: str = "hostname"
) -> tuple[list[dict[str, Any]], list[str], list[Problem]]:
    """The fields of each website of a list, each once.

    Args:
        entries: The websites.
        hostname: What the list calls the host name.

    Returns:
        The fields of each website with its host name as it is written, a note on those
        that are given again with the same values, and every problem in its order.
    """
    first: dict[str, tuple[dict[str, Any], Listed]] = {}
    merged: list[str] = []
    problems: list[Problem] = []
    for entry in entries:
        problems += entry.problems
        if "hostname" not in entry.fields and not entry.problems:
            problems.append(
                file_problem(f"this website has no {hostname}: add one", entry.where)
            )
        fields: dict[str, Any] = {}
        for name, value in entry.fields.items():
            checked = check_field(name, value.value, value.where)
            if isinstance(checked, Problem):
                problems.append(checked)
            else:
                fields[name] = checked
        if "hostname" not in fields:
            continue
        earlier, there = first.setdefault(fields["hostname"], (fields, entry))
        if earlier is fields:
            continue
        problem = _problem_of_duplicate(fields, entry, earlier, there)
        if problem is None:
            where = entry.fields["hostname"].where, there.fields["hostname"].where
            merged.append(f"{fields['hostname']} ({where[0]} and {where[1]})")
        else:
            problems.append(problem)
    websites = [
        {**fields, "hostname": entry.fields["hostname"].value}
        for fields, entry in first.values()
    ]
    note = (
        "websites that are given again with the same values count once "
        f"({len(merged):,} times): {first_few(merged)}"
    )
    return websites, [note] * bool(merged), problems


def _problem_of_duplicate(
    fields: dict[str, Any], entry: Listed, earlier: dict[str, Any], there: Listed
) -> Problem | None:
    both = fields, earlier
    others = ", ".join(
        f"{name} is {value_text(here)} here and {value_text(other)} there"
        for name in SPEC_FIELDS[1:]
        for here, other in [[one.get(name, _SAME.get(name)) for one in both]]
        if here != other
    )
    if not others:
        # What one of them leaves out is as the other one says.
        earlier |= fields
        return None
    return Problem(
        f"{fields['hostname']} is given twice with different values, here and at "
        f"{there.fields['hostname'].where} ({others}): leave one of them out",
        rule="website-once",
        where=entry.fields["hostname"].where,
    )


def value_text(value: object) -> str:
    """A value of a website for a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "not set" if value is None else shown(value)


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
