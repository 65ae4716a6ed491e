"""Websites of the Admin API: one, a list of them, and one that was added."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Final, Never, Self, SupportsIndex, overload

import attrs

from sitestats._common.jsontext import JsonValue
from sitestats._common.problems import Problem
from sitestats._common.text import bounded

from .display import Displayed, HasFrame, Table
from .outcomes import of_hostname
from .tables import Column, named, of_rows

_MOST_SHOWN: Final = 100
"""Websites in a repr."""


def _no_extra() -> Mapping[str, JsonValue]:
    return {}


@attrs.frozen(repr=False)
class _NamedValues(Displayed):
    """Values that are shown by their names."""

    def __repr__(self) -> str:
        fields = attrs.fields_dict(type(self))
        values = (f"{name}={bounded(getattr(self, name))!r}" for name in fields)
        return f"{type(self).__name__}({', '.join(values)})"

    def _displayed(self) -> Table:
        values = attrs.asdict(self, recurse=False)
        title = bounded(values.pop("hostname"))
        differences = values.pop("differences", ())
        extra = values.pop("extra")
        rows = [(name.replace("_", " "), value) for name, value in values.items()]
        rows += extra.items()
        return Table(title, of_rows(("", ""), rows), "; ".join(map(str, differences)))


@attrs.frozen(kw_only=True, repr=False)
class Website(_NamedValues):
    """One website of the user (section 2.1).

    >>> for website in client.websites.list():
    ...     assert website.hostname and website.pageviews >= 0
    """

    hostname: str
    """The host name, which a query is made for."""
    is_public: bool
    """Whether everybody may read the website's statistics."""
    timezone: str
    """The name of the website's own time zone."""
    has_ssl: bool
    """Whether the website has SSL."""
    has_script: bool
    """Whether the tracking script was found on it."""
    own_hostname: str | None = None
    """The custom domain that gets around ad blockers, None when there is none."""
    label: str | None = None
    """The user's own text for it; None when the service sends null."""
    pageviews: int
    """Estimated page views in 30 days, from recent usage."""
    events: int
    """Estimated events in 30 days, from recent usage."""
    extra: Mapping[str, JsonValue] = attrs.field(factory=_no_extra, hash=False)
    """What else the service sends, by its name there."""

    def to_dict(self) -> dict[str, JsonValue]:
        """The website as plain values, ready for JSON.

        >>> website = client.websites.list()[0]
        >>> website.to_dict()["hostname"]
        'semicomplete.com'
        """
        values: dict[str, JsonValue] = {name: getattr(self, name) for name in _COLUMNS}
        return {**values, "extra": dict(self.extra)}


_COLUMNS: Final = tuple(
    field.name for field in attrs.fields(Website) if field.name != "extra"
)


class WebsiteList(tuple[Website, ...], HasFrame[Never], Displayed):  # noqa: SLOT001 - a tuple can have none
    """The websites that the service lists: ``client.websites.list()``.

    It is a tuple that shows itself as a table and becomes a frame, and so is a slice
    of it. A website is found by its host name too. A frame has the nine values of
    the document, and nothing of ``extra``.

    >>> websites = client.websites.list()
    >>> websites[:2].to_pandas()[["hostname", "timezone"]]
                    hostname timezone
    0       semicomplete.com      UTC
    1  blog.semicomplete.com      UTC
    >>> websites["blog.semicomplete.com"].timezone
    'UTC'
    """

    responded_at: datetime | None
    """When the service responded: its ``Date``, else when it was received."""

    def __new__(
        cls, websites: Iterable[Website] = (), *, responded_at: datetime | None = None
    ) -> Self:
        """A list of *websites*, such as for a test."""
        made = super().__new__(cls, websites)
        made.responded_at = responded_at
        return made

    @overload
    def __getitem__(self, index: SupportsIndex | str, /) -> Website: ...

    @overload
    def __getitem__(self, index: slice, /) -> WebsiteList: ...

    def __getitem__(
        self, index: SupportsIndex | str | slice, /
    ) -> Website | WebsiteList:
        if isinstance(index, str):
            return of_hostname(self, index, attrgetter("hostname"))
        if isinstance(index, slice):
            part = super().__getitem__(index)
            return WebsiteList(part, responded_at=self.responded_at)
        return super().__getitem__(index)

    def to_dicts(self) -> list[dict[str, JsonValue]]:
        """The websites as dicts, ready for JSON."""
        return [website.to_dict() for website in self]

    def _tables(self) -> Iterable[Table]:
        return [Table("websites", self._table())]

    def _table(self, _field: None = None) -> Sequence[Column]:
        return [
            named(name, [getattr(website, name) for website in self])
            for name in _COLUMNS
        ]

    def _displayed(self) -> Table:
        names = ("hostname", "label", "timezone", "is_public", "pageviews", "events")
        columns = [named(name, [getattr(one, name) for one in self]) for name in names]
        return Table("websites", columns, "page views and events in 30 days")

    def __repr__(self) -> str:
        if len(self) <= _MOST_SHOWN:
            return super().__repr__()
        shown = ", ".join(map(repr, self[:_MOST_SHOWN]))
        return f"({shown}, … {len(self) - _MOST_SHOWN:,} more)"


@attrs.frozen(kw_only=True, repr=False)
class AddedWebsite(_NamedValues):
    """What adding a website led to (section 2.2).

    >>> added = client.websites.add("example.com", timezone="Europe/Amsterdam")
    >>> added.hostname, added.timezone, added.public, added.differences
    ('example.com', 'Europe/Amsterdam', False, ())
    """

    hostname: str
    """The host name of the website."""
    custom_domain: str | None = None
    """The custom domain, None when there is none."""
    public: bool
    """Whether everybody may read the website's statistics."""
    timezone: str
    """The time zone that was applied."""
    valid_dns: bool
    """Whether the DNS is valid."""
    differences: tuple[Problem, ...] = ()
    """What is different from what was requested; ``where`` names it
    (``"timezone"``). The website exists all the same."""
    extra: Mapping[str, JsonValue] = attrs.field(factory=_no_extra, hash=False)
    """What else the service sends, by its name there."""
