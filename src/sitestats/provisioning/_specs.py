"""Specifications: how websites should be, checked at once, and where some differ."""

from __future__ import annotations

import math
import os
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, BinaryIO, ClassVar, Final, cast

import attrs

from sitestats._base.errors import (
    InvalidInputError,
    InvalidResponseError,
    Problem,
    warn,
)
from sitestats._base.hostnames import normalise_hostname
from sitestats._base.text import shown
from sitestats._base.zone_words import hidden_meaning
from sitestats._base.zones import same_zone
from sitestats._protocol.requests import website_value
from sitestats._query.rules import Problems
from sitestats._results.websites import AddedWebsite, Website, WebsiteList
from sitestats._wire.messages import JsonValue
from sitestats._wire.values import Value

from ._lists import load_fields

_IS_ZONE_TOLD: Final = ContextVar("_IS_ZONE_TOLD", default=True)
"""Whether a specification warns of a zone that is not what people mean by its name."""
_VALID: Final[Mapping[str, Any]] = {
    "hostname": "example.com",
    "accept_differing": False,
}
"""What stands for a value that can't be read; elsewhere None does."""


@attrs.frozen
class WebsiteSpec(Value):
    """A website as it should be (section 4.2).

    Args:
        hostname: The host name, such as ``"example.com"``. It becomes lower case and
            ASCII, without a trailing dot, as the service stores it.
        timezone: A name of the tz database, with its capitals. Other names are refused,
            because the service would silently replace them by UTC. With None, a website
            is added in UTC.
        public: Whether everybody may see the statistics. With None, a website is
            added as a private one.
        label: Free text of your own. With None, a website is added without a label.
        accept_differing: Whether an existing website may differ. It is still reported,
            but is not a failure.

    A value that is None is not compared with an existing website. NaN, which pandas has
    in an empty cell, counts as None. A ``SiteStatsWarning`` names a time zone that is
    not what many people mean by its name: ``Etc/GMT+1`` is UTC-1, and ``EST`` has no
    summer time.

    Raises:
        InvalidInputError: A value breaks a rule; ``problems`` has all of them.

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
    _is_typed: ClassVar[bool] = True

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "written", self.hostname)
        with Problems() as problems:
            for name in ("hostname", "timezone", "public", "label"):
                value: object = getattr(self, name)
                if isinstance(value, float) and math.isnan(value):
                    value = None
                if value is not None or name == "hostname":
                    value = problems.check(website_value, name, value)
                object.__setattr__(self, name, value)
            zone = self.timezone if _IS_ZONE_TOLD.get() else None
            if zone is not None and (meaning := hidden_meaning(zone)):
                warn(meaning)
            accepts = cast("object", self.accept_differing)
            if not isinstance(accepts, bool):
                message = f"must be true or false, not {shown(accepts)}"
                rule, where = "website-accept-differing", "accept_differing"
                problems.append(Problem(message, rule, where=where))

    def to_dict(self) -> dict[str, JsonValue]:
        """The specification as plain values, ready for JSON, with the host name as it
        was given.

        >>> from sitestats import WebsiteSpec
        >>> WebsiteSpec("Bücher.example", public=True).to_dict()["hostname"]
        'Bücher.example'
        """
        return {**super().to_dict(), "hostname": self.written}

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | BinaryIO,
        *,
        columns: Mapping[str, str] | None = None,
        ignore_columns: bool = False,
        accept_differing: bool = False,
    ) -> tuple[WebsiteSpec, ...]:
        r"""Read the specifications of a list: names by line, CSV, xlsx, TOML or JSON.

        Text has a host name in each line. CSV has a first line with the names of the
        columns, separated by commas, semicolons, tabs or ``|``. TOML begins with
        ``[[websites]]``, a table for each website. JSON is a list of objects or of
        host names, or an object with that list as ``"websites"``. The first line
        decides on the format, whatever the file is called. A title may be above the
        header, and a line such as ``sep=;``; a file without a header has names alone.

        The first sheet of a workbook (the extra ``excel``) is read as CSV. A cell whose
        display can differ from its stored value is an error if its column is read:
        merged cells, formulas, errors, dates, and numbers in a format. Hidden rows and
        columns count.

        The columns are the arguments of this class, in any case and spelled with spaces
        or hyphens, too. Only ``hostname`` is required. An empty cell leaves its value
        out. Blanks around a value are removed, except in labels of JSON, TOML and the
        output of ``sitestats websites list``. That output is a valid list, too; its
        other columns are ignored. ``public`` may be ``yes``, ``no``, ``1``, ``0`` or a
        spreadsheet's ``WAHR`` and ``FALSCH``. ``#`` begins a comment in text and TOML,
        and in a line of CSV that has no separator or is above the header.

        A list is in UTF-8. A website that is listed again with the same values counts
        once. A ``SiteStatsWarning`` names it, and ignored columns, other sheets, hidden
        rows and columns, rows of CSV that begin with ``#``, a title, an unnamed column
        that numbers the rows, and time zones that are not what many people mean by
        their names, such as ``Etc/GMT+1``, which is UTC-1.

        Args:
            path: The file, or one that is open for reading bytes, such as
                ``sys.stdin.buffer``.
            columns: The names of fields in the list, such as
                ``{"hostname": "Domain"}``.
            ignore_columns: Whether to ignore unknown columns or keys; otherwise they
                are an error. A name that resembles a missing field is always an error:
                it may be a typing mistake, and a website that was added can't be
                changed.
            accept_differing: The default for websites whose row has no
                ``accept_differing``.

        Returns:
            The specifications in the list's order.

        Raises:
            InvalidInputError: The list breaks a rule, or has no websites. ``problems``
                has all mistakes with their places: ``list.csv:3: timezone``, and
                ``list.json: websites[3]: timezone`` in TOML and JSON. A website that is
                listed twice with different values is a mistake, too.
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
        unique: dict[str, tuple[WebsiteSpec, str]] = {}
        again: list[str] = []
        given: dict[str, Any] = {"hostname": "", "accept_differing": accept_differing}
        with Problems() as problems:
            for where, fields in load_fields(
                path, columns, problems, ignore=ignore_columns
            ):
                wrong = [k for k, v in fields.items() if isinstance(v, Problem)]
                # Whatever is valid there lets the other values be checked.
                values: dict[str, Any] = fields | {k: _VALID.get(k) for k in wrong}
                try:
                    with _zones_untold():
                        spec = cls(**given | values)
                except InvalidInputError as error:
                    problems += [
                        attrs.evolve(problem, where=f"{where}: {problem.where}")
                        for problem in error.problems
                    ]
                    continue
                if wrong:
                    continue
                first, there = unique.setdefault(spec.hostname, (spec, where))
                if first != spec:
                    problems.append(_duplicate(spec, where, there, first))
                elif there != where:
                    again.append(f"{spec.hostname} ({where})")
        if again:
            warn(
                f"websites that are listed again count once: {again[0]}"
                + (f" and {len(again) - 1:,} more" if again[1:] else "")
            )
        # Each zone is told once, at its first place.
        zones: dict[str, str] = {}
        for spec, there in unique.values():
            zones.setdefault(spec.timezone or "", there)
        for zone, there in zones.items():
            if meaning := hidden_meaning(zone):
                warn(f"{there}: {meaning}")
        return tuple(spec for spec, _ in unique.values())

    @classmethod
    def of(cls, website: Website) -> WebsiteSpec:
        """Make the specification of an existing website, as it is.

        If a website has no label, the specification has none, too.

        Raises:
            InvalidInputError: The service would not accept its own values, such as a
                time zone that is not in the tz database; or one of them can't be read.

        Example:
            >>> specs = [WebsiteSpec.of(website) for website in client.websites.list()]
            >>> client.websites.plan(specs).complete
            True
        """
        if not isinstance(cast("object", website), Website):
            message = f"give a website of client.websites.list(), not {shown(website)}"
            raise InvalidInputError(message)
        if {"timezone", "is_public", "label"}.intersection(website.unknown):
            raise InvalidInputError(website.problems)
        # It is there, whatever its zone means.
        with _zones_untold():
            return cls(
                website.hostname,
                timezone=website.timezone,
                public=website.is_public,
                label=website.label or None,
            )


@contextmanager
def _zones_untold() -> Generator[None]:
    """Let specifications be made without a warning of a zone that misleads."""
    before = _IS_ZONE_TOLD.set(False)
    try:
        yield
    finally:
        _IS_ZONE_TOLD.reset(before)


def as_specs(specs: Iterable[WebsiteSpec | str]) -> tuple[WebsiteSpec, ...]:
    """*specs* as a tuple, with a specification for each that is a host name.

    Raises:
        InvalidInputError: They are not a list; or some are neither, or are given twice.
            All of them are listed.
    """
    # A text would be read as a list of letters, and a mapping as a list of its keys.
    whole = cast("object", specs)
    is_one = isinstance(whole, str | Mapping) or hasattr(whole, "hostname")
    if is_one or not isinstance(whole, Iterable):
        raise InvalidInputError(
            f"give a list of host names or specifications, not {shown(specs)}: "
            "ensure(['example.com']), or ensure(WebsiteSpec.load(path)) of a file"
        )
    unique: dict[str, tuple[WebsiteSpec, str]] = {}
    with Problems() as problems:
        for index, value in enumerate(specs):
            where = f"specs[{index}]"
            given = value if isinstance(value, WebsiteSpec) else None
            if given or problems.check(website_value, "hostname", value, where):
                spec = given or WebsiteSpec(str(value))
                first, there = unique.setdefault(spec.hostname, (spec, where))
                if there != where:
                    problems.append(_duplicate(spec, where, there, first))
    return tuple(spec for spec, _ in unique.values())


def _duplicate(
    spec: WebsiteSpec, where: str, there: str, first: WebsiteSpec
) -> Problem:
    """The problem of *spec*, which is given again, perhaps with other values."""
    here, other = attrs.asdict(spec), attrs.asdict(first)
    differs = "".join(
        f", with the {name} {_text(value)} here and {_text(other[name])} there"
        for name, value in here.items()
        if name != "written" and value != other[name]
    )
    return Problem(
        f"{spec.hostname} is given twice, here and at {there}{differs}: leave one out",
        rule="website-once",
        where=where,
    )


# --- compared with a website ------------------------------------------------------


@attrs.frozen
class Difference(Value):
    """One value of a website that differs from its specification."""

    field: str
    """``"timezone"``, ``"public"``, ``"label"``, or ``"hostname"`` where the
    service added the website under another one."""
    expected: str | bool
    found: str | bool | None

    def __str__(self) -> str:
        found, expected = _text(self.found), _text(self.expected)
        return f"{self.field} is {found} and should be {expected}"


def _text(value: str | bool | None) -> str:  # noqa: FBT001 - a value to show
    if isinstance(value, bool):
        return "true" if value else "false"
    return "not set" if value is None else shown(value)


def as_added(spec: WebsiteSpec) -> WebsiteSpec:
    """*spec* with the defaults for what it leaves out."""
    timezone, public = spec.timezone or "UTC", bool(spec.public)
    # What the zone means was told when the specification was made.
    with _zones_untold():
        return attrs.evolve(spec, timezone=timezone, public=public)


def differences_of(
    spec: WebsiteSpec, website: Website | AddedWebsite
) -> tuple[Difference, ...]:
    """Where *website* differs from *spec*, in the values that *spec* has."""
    values: dict[str, str | bool | None] = {
        "hostname": normalised(website.hostname),
        "timezone": website.timezone,
    }
    if isinstance(website, AddedWebsite):
        # The response to an add has no label (section 2.2).
        values["public"] = website.public
    else:
        values |= {"public": website.is_public, "label": website.label}
        for name in website.unknown:
            values.pop(name.removeprefix("is_"), None)
    return tuple(
        Difference(name, expected, value)
        for name, value in values.items()
        if (expected := getattr(spec, name)) is not None
        and not _is_same(name, expected, value)
    )


def _is_same(name: str, expected: str | bool, value: str | bool | None) -> bool:  # noqa: FBT001 - values
    if name == "timezone":
        return isinstance(value, str) and same_zone(str(expected), value)
    # A website without a label has an empty one or none, and both mean the same.
    return expected == ("" if value is None else value)


def normalised(hostname: str) -> str:
    """A host name of the service in the form that specifications have."""
    try:
        return normalise_hostname(hostname)
    except ValueError:
        return hostname.lower()


def by_hostname(
    websites: WebsiteList,
) -> tuple[dict[str, Website], InvalidResponseError | None]:
    """The websites by their normalised host names, the first of each name; and why no
    other one may be added, if that is so: it can't be undone.
    """
    listed = {normalised(website.hostname): website for website in reversed(websites)}
    if not websites.incomplete:
        return listed, None
    return listed, InvalidResponseError(
        "the list has a website whose host name can't be read, which may be one to "
        "add, so none is added: look in the service's dashboard",
        problems=websites.problems,
    )
