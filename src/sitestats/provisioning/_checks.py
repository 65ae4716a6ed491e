"""Check the fields of website specifications, from code and from files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sitestats._common.errors import Problem
from sitestats._protocol.requests import website_value

FIELDS: Final = ("hostname", "timezone", "public", "label")
"""The fields of a specification, in files too."""


def check_field(
    name: str, value: object, where: str = ""
) -> str | bool | Problem | None:
    """*value* in the form in which a specification keeps it, or its problem."""
    if name == "label" and value is None:
        return None
    checked = website_value(name, value, where)
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
