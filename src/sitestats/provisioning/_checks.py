"""Check the fields of website specifications, from code and from files."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from sitestats._common.errors import Problem
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


def spec_fields(names: Iterable[str]) -> dict[str, str | None]:
    """The field of a specification that each of *names* stands for; None for none.

    The names of the whole list are those of a list that was saved, so that what
    the service alone decides is left out. One of them by itself is not left out
    unnoticed: its writer expects something of it.
    """
    names = list(names)
    is_list = set(names) >= _LISTED and "public" not in names
    return {name: LISTED.get(name, name) if is_list else name for name in names}


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
