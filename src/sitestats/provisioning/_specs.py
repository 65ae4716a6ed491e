"""Websites as they should be, checked before anything is sent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import attrs

from sitestats import _periods as periods
from sitestats import _rules as rules
from sitestats._errors import Problem, SpecError
from sitestats._wording import shown

FIELDS: Final = ("hostname", "timezone", "public", "label")
"""What a specification has, in files too."""


@attrs.frozen
class WebsiteSpec:
    """A website as it should be (section 4.2).

    Args:
        hostname: Such as ``"example.com"``; kept in lower case, as ASCII and
            without a dot at its end, as the service knows websites.
        timezone: A name of the tz database in its exact case. The service
            would turn any other into UTC without a word, so it is refused.
        public: Whether everybody may see the statistics.
        label: Free text of your own. None gives none, and is not compared with
            the label of a website that exists.

    Raises:
        SpecError: A value breaks a rule; ``problems`` has every one.

    Example:
        >>> from sitestats import WebsiteSpec
        >>> WebsiteSpec("Example.COM.", timezone="Europe/Amsterdam").hostname
        'example.com'
    """

    hostname: str
    timezone: str = "UTC"
    public: bool = False
    label: str | None = None

    def __attrs_post_init__(self) -> None:
        problems: list[Problem] = []
        for name in FIELDS:
            value = getattr(self, name)
            checked = check_field(name, value)
            if isinstance(checked, Problem):
                problems.append(checked)
            elif checked is not value:
                object.__setattr__(self, name, checked)
        if problems:
            raise SpecError(problems)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> tuple[WebsiteSpec, ...]:
        r"""Read the specifications of a TOML, JSON or CSV file.

        The ending of its name tells which it is. TOML has a table
        ``[[websites]]`` for each website; JSON a list of objects, or an object
        with that list as ``"websites"``; CSV a first line with the names of the
        columns. The names are those of this class's arguments, and only
        ``hostname`` has to be there. An empty cell of a CSV file is a value
        that was left out.

        Args:
            path: A file in UTF-8.

        Returns:
            The specifications in the file's order.

        Raises:
            SpecError: The file breaks a rule. ``problems`` has every one, and
                each names its place as ``file:line:column``, both from 1, the
                column in characters. A website given twice is a problem too.
            OSError: The file can't be read.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as directory:
            ...     path = Path(directory, "websites.csv")
            ...     _ = path.write_text("hostname,public\nexample.com,true\n")
            ...     [(spec.hostname, spec.public) for spec in WebsiteSpec.load(path)]
            [('example.com', True)]
        """
        # The parsers are for those who have a file.
        from ._files import load_specs

        return load_specs(path)


def check_field(name: str, value: Any, where: str = "") -> Any:
    """*value* as a specification keeps it, or the problem that it has."""
    where = where or name
    if name == "hostname":
        checked = rules.hostname(value, where, "website-hostname")
    elif name == "timezone":
        checked = periods.timezone(value, where, "website-timezone")
    elif name == "public":
        if isinstance(value, bool):
            return value
        return rules.broken(
            "website-public", f"public is true or false, not {shown(value)}", where
        )
    elif value is None:
        return None
    elif isinstance(value, str):
        checked = rules.plain(value, where)
    else:
        return rules.broken(
            "website-label", f"a label is text, not {shown(value)}", where
        )
    return checked if isinstance(checked, str) else checked[0]


def as_specs(specs: Iterable[WebsiteSpec]) -> tuple[WebsiteSpec, ...]:
    """*specs* once each, or a SpecError with every one that can't be used."""
    values = _values(specs)
    kept = tuple(value for value in values if isinstance(value, WebsiteSpec))
    problems = [
        _not_a_spec(value, f"specs[{index}]")
        for index, value in enumerate(values)
        if not isinstance(value, WebsiteSpec)
    ]
    if not problems:
        problems = duplicates(
            (spec.hostname, f"specs[{index}]") for index, spec in enumerate(kept)
        )
    if problems:
        raise SpecError(problems)
    return kept


def _values(specs: object) -> tuple[object, ...]:
    if not _may_hold_specs(specs):
        raise SpecError([_not_a_spec(specs, "specs")])
    return tuple(cast("Iterable[object]", specs))


def _may_hold_specs(specs: object) -> bool:
    return isinstance(specs, Iterable) and not isinstance(specs, (str, bytes, Mapping))


def duplicates(hostnames: Iterable[tuple[str, str]]) -> list[Problem]:
    """A problem for each host name, with its place, that an earlier place has."""
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


def _not_a_spec(value: object, where: str) -> Problem:
    if isinstance(value, WebsiteSpec):
        advice = "put it into a list"
    elif where == "specs":
        advice = "WebsiteSpec.load(path) reads them from a file"
    else:
        advice = "write WebsiteSpec('example.com')"
    return Problem(
        f"websites are given as an iterable of WebsiteSpec, not as {shown(value)}: "
        f"{advice}",
        rule="website-spec",
        where=where,
    )
