"""Websites of the Admin API: one, a list of them, and one that was added."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

import attrs

from sitestats._common.errors import Problem
from sitestats._common.jsontext import JsonValue
from sitestats._common.text import bounded

from .display import HasSheet
from .tables import Sheet

_MOST_SHOWN: Final = 1000
"""Rows of a table; a repr has a tenth of that."""


def _no_extra() -> Mapping[str, JsonValue]:
    return {}


@attrs.frozen(repr=False)
class _NamedValues(HasSheet):
    """Values that are shown by their names."""

    def __repr__(self) -> str:
        fields = attrs.fields_dict(type(self))
        values = (f"{name}={bounded(getattr(self, name))!r}" for name in fields)
        return f"{type(self).__name__}({', '.join(values)})"

    def _sheet(self) -> Sheet:
        values = attrs.asdict(self, recurse=False)
        differences = values.pop("differences", ())
        extra = values.pop("extra")
        rows = [(name.replace("_", " "), value) for name, value in values.items()]
        rows += islice(extra.items(), _MOST_SHOWN)
        total = len(values) - 1 + len(extra)
        note = "; ".join(map(str, differences))
        title = bounded(rows.pop(0)[1])
        return Sheet(title, ("", ""), rows, note, total)


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
    own_hostname: str | None
    """The custom domain that gets around ad blockers, None when there is none."""
    label: str | None
    """The user's own text for it; None when the service sends null."""
    pageviews: int
    """Estimated page views in 30 days, from recent usage."""
    events: int
    """Estimated events in 30 days, from recent usage."""
    extra: Mapping[str, JsonValue] = attrs.field(factory=_no_extra, hash=False)
    """What else the service sends, by its name there."""


class WebsiteList(tuple[Website, ...], HasSheet):
    """Websites as the service lists them: a tuple that shows itself as a table."""

    __slots__ = ()

    def _sheet(self) -> Sheet:
        rows = [
            (
                *(website.hostname, website.label, website.timezone),
                *(website.is_public, website.pageviews, website.events),
            )
            for website in self[:_MOST_SHOWN]
        ]
        headings = ("", "label", "time zone", "public", "page views", "events")
        note = "page views and events in 30 days"
        return Sheet("websites", headings, rows, note, len(self))

    def __repr__(self) -> str:
        most = _MOST_SHOWN // 10
        if len(self) <= most:
            return super().__repr__()
        return f"({', '.join(map(repr, self[:most]))}, … {len(self) - most:,} more)"


@attrs.frozen(kw_only=True, repr=False)
class AddedWebsite(_NamedValues):
    """What adding a website led to (section 2.2).

    >>> added = client.websites.add("example.com", timezone="Europe/Amsterdam")
    >>> added.hostname, added.timezone, added.public, added.differences
    ('example.com', 'Europe/Amsterdam', False, ())
    """

    hostname: str
    """The host name of the website."""
    custom_domain: str | None
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
