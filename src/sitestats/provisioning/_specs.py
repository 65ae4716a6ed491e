"""Website specifications: the values that a website should have, checked at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import attrs

from sitestats._common.errors import SpecError
from sitestats._common.problems import Problem
from sitestats._common.text import shown

from ._checks import check_field, find_duplicates
from ._columns import SPEC_FIELDS
from ._dump import Format

if TYPE_CHECKING:
    from sitestats._results.websites import Website

    from ._lists import InputFormat


@attrs.frozen
class WebsiteSpec:
    """A website as it should be (section 4.2).

    Args:
        hostname: Such as ``"example.com"``; stored in lower case, as ASCII and
            without a trailing dot, as the service stores it.
        timezone: A name of the tz database in its exact case. Any other is
            refused, since the service would silently replace it by UTC. With None, a
            website is added in UTC.
        public: Whether everybody may see the statistics. With None, a website is
            added as a private one.
        label: Free text of your own. With None, a website is added without one.
        accept_differing: Whether an existing website may differ: it is shown, and is
            no error.

    What is None is not compared with an existing website.

    Raises:
        SpecError: A value breaks a rule; ``problems`` has every one.

    Example:
        >>> from sitestats import WebsiteSpec
        >>> WebsiteSpec("Example.COM.", timezone="Europe/Amsterdam").hostname
        'example.com'
    """

    hostname: str
    timezone: str | None = None
    public: bool | None = None
    label: str | None = None
    accept_differing: bool = attrs.field(default=False, kw_only=True)
    written: str = attrs.field(init=False, eq=False, repr=False)
    """The host name as it was given, such as ``"Bücher.example"``."""

    def __attrs_post_init__(self) -> None:
        problems: list[Problem] = []
        object.__setattr__(self, "written", self.hostname)
        for name in SPEC_FIELDS:
            value = getattr(self, name)
            checked = check_field(name, value)
            if isinstance(checked, Problem):
                problems.append(checked)
            elif checked is not value:
                object.__setattr__(self, name, checked)
        if problems:
            raise SpecError(problems)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | BinaryIO,
        *,
        input_format: InputFormat | None = None,
        columns: Mapping[str, str] | None = None,
        ignore_columns: bool = False,
        ignore_column: str | Iterable[str] = (),
        accept_differing: bool = False,
    ) -> tuple[WebsiteSpec, ...]:
        r"""Read the specifications of a list: names by line, CSV, xlsx, TOML or JSON.

        Text has a host name in each line. CSV has a first line with the names of the
        columns, separated by commas, semicolons or tabs. TOML has a table
        ``[[websites]]`` for each website; JSON a list of objects or of host names, or
        an object with that list as ``"websites"``. Of a workbook (the extra ``excel``)
        the first sheet is read, as CSV. The names are those of this class's
        arguments, without regard to case and marks, and only ``hostname`` is required.
        In CSV an empty cell is a value that is left out, and ``public`` may be ``yes``,
        ``no``, ``1``, ``0`` or a spreadsheet's ``WAHR`` and ``FALSCH``. The saved
        output of ``sitestats websites list`` is such a list too: what only the service
        decides is left out of it. ``#`` begins a comment, but in JSON.

        A list is in UTF-8, or in UTF-16 with its byte order mark. Text and CSV that are
        neither are read as cp1252. A website that is given again with the same values
        counts once. A ``SiteStatsWarning`` says so, and names ignored columns.

        Args:
            path: The file, or one that is open for reading bytes, such as
                ``sys.stdin.buffer``.
            input_format: Its format. When left out, it is that of the file's name, or
                what its content looks like.
            columns: The names that fields have in the list, such as
                ``{"hostname": "Domain"}``.
            ignore_columns: Whether columns or keys that are no fields are left out.
                They are an error otherwise, and so is one that resembles a field which
                the list lacks: it may be meant, and a website that was added can't be
                changed.
            ignore_column: The names of columns that are left out in any case.
            accept_differing: Whether websites may differ for which the list does not
                say it.

        Returns:
            The specifications in the list's order.

        Raises:
            SpecError: The list breaks a rule, or has no websites. ``problems`` has
                every one with its place: the line and the column in CSV, both from 1,
                and ``websites[3].timezone`` in TOML and JSON. A website given twice
                with different values is a problem too.
            OSError: The file can't be read.

        Example:
            >>> from pathlib import Path
            >>> from tempfile import TemporaryDirectory
            >>> with TemporaryDirectory() as directory:
            ...     path = Path(directory, "websites.csv")
            ...     _ = path.write_text("Domain;Public\nexample.com;WAHR\n")
            ...     specs = WebsiteSpec.load(path, columns={"hostname": "Domain"})
            >>> [(spec.hostname, spec.public) for spec in specs]
            [('example.com', True)]
        """
        # Only a list needs the parsers.
        from ._lists import load_specs

        websites = load_specs(
            path,
            input_format=input_format,
            columns=columns,
            ignore_columns=ignore_columns,
            ignore_column=ignore_column,
        )
        default: dict[str, Any] = {"accept_differing": accept_differing}
        return tuple(cls(**default | fields) for fields in websites)

    @classmethod
    def of(cls, website: Website) -> WebsiteSpec:
        """The specification of a website as it is: a plan finds nothing to do for it.

        A website without a label gets a specification without one.

        Raises:
            SpecError: The service's values are none that it would accept, such as a
                time zone that is no name of the tz database.

        Example:
            >>> specs = [WebsiteSpec.of(website) for website in client.websites.list()]
            >>> client.websites.plan(specs).complete
            True
        """
        return cls(
            website.hostname,
            timezone=website.timezone,
            public=website.is_public,
            label=website.label or None,
        )

    @staticmethod
    def dumps(
        specs: Iterable[WebsiteSpec],
        output_format: Format = "csv",
    ) -> str:
        """*specs* as text that ``load`` reads back, to be written as UTF-8.

        In CSV a label that a spreadsheet would take for a formula has a ``'`` in
        front, which ``load`` leaves out.

        Raises:
            SpecError: A website is given twice, or CSV can't have a label.

        Example:
            >>> print(WebsiteSpec.dumps([WebsiteSpec("example.com", public=True)]))
            hostname,timezone,public,label
            example.com,,true,
            <BLANKLINE>
        """
        from ._dump import dump_rows

        rows = [attrs.asdict(spec) for spec in as_specs(specs)]
        return dump_rows(rows, output_format)


def as_specs(specs: object) -> tuple[WebsiteSpec, ...]:
    """*specs* as a tuple.

    Raises:
        SpecError: One is no ``WebsiteSpec``, or is given twice; it has every problem.
    """
    if not _may_hold_specs(specs):
        advice = "WebsiteSpec.load(path) reads them from a file"
        if isinstance(specs, WebsiteSpec):
            advice = "put it into a list"
        raise SpecError([_not_a_spec(specs, "specs", advice)])
    values = tuple(cast("Iterable[object]", specs))
    found = tuple(value for value in values if isinstance(value, WebsiteSpec))
    problems = [
        _not_a_spec(value, f"specs[{index}]", "write WebsiteSpec('example.com')")
        for index, value in enumerate(values)
        if not isinstance(value, WebsiteSpec)
    ]
    problems = problems or find_duplicates(
        (spec.hostname, f"specs[{index}]") for index, spec in enumerate(found)
    )
    if problems:
        raise SpecError(problems)
    return found


def _may_hold_specs(specs: object) -> bool:
    return isinstance(specs, Iterable) and not isinstance(specs, (str, bytes, Mapping))


def _not_a_spec(value: object, where: str, advice: str) -> Problem:
    return Problem(
        f"websites are given as an iterable of WebsiteSpec, not as {shown(value)}: "
        f"{advice}",
        rule="website-spec",
        where=where,
    )
