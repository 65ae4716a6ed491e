"""Website specifications: the values that a website should have, checked at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import cast

import attrs

from sitestats._common.errors import Problem, SpecError
from sitestats._common.text import shown

from ._checks import FIELDS, check_field, find_duplicates


@attrs.frozen
class WebsiteSpec:
    """A website as it should be (section 4.2).

    Args:
        hostname: Such as ``"example.com"``; kept in lower case, as ASCII and
            without a trailing dot, as the service stores it.
        timezone: A name of the tz database in its exact case. Any other is
            refused, since the service would silently replace it by UTC.
        public: Whether everybody may see the statistics.
        label: Free text of your own. None sets no label, and is not compared
            with the label of an existing website.

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

        The extension of its name selects the format. TOML has a table
        ``[[websites]]`` for each website; JSON a list of objects, or an object
        with that list as ``"websites"``; CSV a first line with the names of the
        columns. The names are those of this class's arguments, and only
        ``hostname`` is required. An empty cell of a CSV file is a value that is
        left out. The saved output of ``sitestats websites list`` is such a file
        too: what only the service decides is left out of it.

        Args:
            path: A file in UTF-8.

        Returns:
            The specifications in the file's order.

        Raises:
            SpecError: The file breaks a rule. ``problems`` has every one, and
                each has its location as ``file:line:column``, both from 1, the
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
        # Only a file needs the parsers.
        from ._files import load_specs

        return load_specs(path, make=cls)


def as_specs(specs: Iterable[WebsiteSpec]) -> tuple[WebsiteSpec, ...]:
    """*specs* as a tuple.

    Raises:
        SpecError: One is no ``WebsiteSpec``, or is given twice; it has every problem.
    """
    values = _values(specs)
    kept = tuple(value for value in values if isinstance(value, WebsiteSpec))
    problems = [
        _not_a_spec(value, f"specs[{index}]")
        for index, value in enumerate(values)
        if not isinstance(value, WebsiteSpec)
    ]
    if not problems:
        problems = find_duplicates(
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
