"""Websites of the Admin API: one, a list of them, and one that was added."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Never, get_type_hints

import attrs

from sitestats._base.errors import Problem
from sitestats._wire.messages import JsonValue

from .bases import Displayed, Row, Rows, Table, read_as_dataclass
from .tables import Column, Count, Name, column_of, of_rows


@attrs.frozen
class _NamedValues(Displayed, Row):
    """Values that are shown by their names."""

    _note: ClassVar[str] = ""
    """What a reader has to know of them."""

    def _displayed(self) -> Table:
        values = attrs.asdict(self, recurse=False)
        title = values.pop("hostname")
        told = (*values.pop("differences", ()), *values.pop("problems", ()))
        extra = values.pop("extra")
        known = ((name.replace("_", " "), value) for name, value in values.items())
        rows = of_rows(("", ""), [*known, *extra.items()])
        notes = filter(None, [self._note, *map(str, told)])
        return Table(title, rows, "; ".join(notes))


@attrs.frozen(kw_only=True)
class Website(_NamedValues):
    """One website of the user (section 2.1). A value that can't be read is None.

    >>> for website in client.websites.list():
    ...     assert website.hostname and not website.problems
    """

    columns: ClassVar[tuple[str, ...]] = (
        "hostname",
        "is_public",
        "timezone",
        "has_ssl",
        "has_script",
        "own_hostname",
        "label",
        "pageviews",
        "events",
    )
    """The names of the document's values, in its order."""
    _note: ClassVar[str] = "page views and events in 30 days"

    hostname: Name
    """The host name."""
    is_public: bool | None
    """Whether everybody may read the website's statistics."""
    timezone: str | None
    """The name of the website's own time zone."""
    has_ssl: bool | None
    """Whether the website has SSL."""
    has_script: bool | None
    """Whether the service found the tracking script on the website."""
    own_hostname: str | None = None
    """The custom domain that gets around ad blockers, or None."""
    label: str | None = None
    """The user's own text about the website; None if the service sends null."""
    pageviews: Count | None
    """Estimated page views in 30 days, from recent usage."""
    events: Count | None
    """Estimated events in 30 days, from recent usage."""
    problems: tuple[Problem, ...] = attrs.field(default=(), eq=False)
    """The values that are not as documented, each with its JSON path."""
    extra: Mapping[str, JsonValue] = attrs.field(
        factory=dict[str, JsonValue], hash=False
    )
    """What else the service sends, by its name there."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the values that can't be read, and are None."""
        return tuple(problem.where.rpartition(".")[2] for problem in self.problems)


@attrs.frozen(repr=False)
class WebsiteList(Rows[Website, Never]):
    """The websites that the service lists: ``client.websites.list()``.

    It is a ``Sequence``. An index is a position or a host name, and a slice returns a
    ``WebsiteList`` again. A notebook shows it as a table. Its frame has the nine values
    of the document, without ``extra``.

    >>> websites = client.websites.list()
    >>> websites[:2].to_pandas()[["hostname", "timezone"]]
                    hostname timezone
    0       semicomplete.com      UTC
    1  blog.semicomplete.com      UTC
    >>> websites["blog.semicomplete.com"].timezone
    'UTC'
    """

    responded_at: datetime | None = attrs.field(default=None, kw_only=True, eq=False)
    """When the service responded: its ``Date``, else when it was received."""
    problems: tuple[Problem, ...] = attrs.field(default=(), kw_only=True, eq=False)
    """The values of all websites that are not as documented, each with its JSON path.
    They are None, with one ``SiteStatsWarning``."""
    incomplete: bool = attrs.field(default=False, kw_only=True, eq=False)
    """Whether websites are left out because their host names can't be read. A slice has
    the value of the whole list, as of ``problems``."""

    def to_dicts(self, field: None = None) -> list[dict[str, JsonValue]]:  # noqa: ARG002 - as all frames
        """The websites as dicts with their ``extra``, ready for JSON."""
        return [website.to_dict() for website in self]

    def _names(self) -> Sequence[str]:
        return [website.hostname for website in self]

    def _table(self, _field: None = None) -> Sequence[Column]:
        return self._columns(Website.columns)

    def _displayed(self) -> Table:
        names = ("hostname", "label", "timezone", "is_public", "pageviews", "events")
        return Table("websites", self._columns(names), Website._note)  # noqa: SLF001 - of this module

    def _columns(self, names: Sequence[str]) -> Sequence[Column]:
        return [
            column_of(name, [getattr(site, name) for site in self], can_be_missing=True)
            for name in names
        ]


@attrs.frozen(kw_only=True)
class AddedWebsite(_NamedValues):
    """A website that was added, as the service responded (section 2.2). A value that
    can't be read is None.

    >>> added = client.websites.add("example.com", timezone="Europe/Amsterdam")
    >>> added.hostname, added.timezone, added.public, added.differences
    ('example.com', 'Europe/Amsterdam', False, ())
    """

    hostname: Name
    """The host name of the website."""
    custom_domain: str | None = None
    """The custom domain, or None."""
    public: bool | None
    """Whether everybody may read the website's statistics."""
    timezone: str | None
    """The time zone that was applied."""
    valid_dns: bool | None
    """Whether its DNS is valid."""
    differences: tuple[Problem, ...] = ()
    """The values that differ from the request; ``where`` of each has the name, such as
    ``"timezone"``. The website was added with the other value."""
    problems: tuple[Problem, ...] = attrs.field(default=(), eq=False)
    """The values that are not as documented, each with its JSON path."""
    extra: Mapping[str, JsonValue] = attrs.field(
        factory=dict[str, JsonValue], hash=False
    )
    """What else the service sends, by its name there."""


def _fields(kind: type[Any]) -> Iterator[tuple[str, Any, Any]]:
    """The fields of an attrs class, for ``make_dataclass``. cattrs prefers them to the
    fields of attrs, and needs types and defaults.
    """
    types = get_type_hints(kind, include_extras=True)
    for field in attrs.fields(kind):
        made: Any = dataclasses.field()
        if field.name == "extra":
            made = dataclasses.field(default_factory=dict[str, JsonValue])
        elif field.default is not attrs.NOTHING:
            made = dataclasses.field(default=field.default)
        yield field.name, types[field.name], made


for _kind in (Website, AddedWebsite):
    read_as_dataclass(_kind, _fields(_kind))
