"""Access rules: API keys and private websites (section 5); host names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import attrs
import idna
from attrs import converters

from . import _settings
from ._http import Headers
from ._parameters import Query
from ._periods import is_zone

MAY_ADD: Final = ("owner", "admin", "developer")
"""The roles that may add a website (section 4.2)."""
ROLES: Final = (*MAY_ADD, "viewer")
"""The roles of a user; the document names those that may add a website."""

_USER_ID: Final = re.compile(
    r"(sa_user_id_)?[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    re.IGNORECASE,
)

# Browsers accept underscores, so some websites have them. They take a name that ends in
# a number for an IPv4 address.
_HOST: Final = re.compile(
    r"(?=.{1,253}$)((?!-)[a-z0-9_-]{1,63}(?<!-)\.)+"
    r"(?!([0-9]+|0x[0-9a-f]*)$)(?!-)[a-z0-9_-]{1,63}(?<!-)"
)


def host_name(text: object) -> str:
    """*text* in lower case and punycode.

    Raises:
        ValueError: *text* can't name a website. A website's name has at least one dot,
            and is not an IP address.
    """
    name = text.lower().removesuffix(".") if isinstance(text, str) else ""
    if not name.isascii():
        with suppress(idna.IDNAError):
            name = idna.encode(name, uts46=True).decode("ascii")
    if not _HOST.fullmatch(name):
        raise ValueError(f"{text!r} is not a valid host name of a website")
    return name


def _zone(_website: Website, attribute: attrs.Attribute[str], name: object) -> None:
    if not is_zone(name):
        raise ValueError(
            f"{attribute.name} must be a name of the tz database, such as "
            f"'Europe/Amsterdam', not {name!r}; if it should be one, pip install "
            "--upgrade tzdata"
        )


@attrs.frozen
class Website:
    """One website and its settings; ``Emulator.add_website`` explains them.

    Raises:
        TypeError: A setting has another type.
        ValueError: The zone or the custom domain is not valid.
    """

    hostname: str
    timezone: str = attrs.field(default="UTC", validator=_zone)
    public: bool = attrs.field(default=False, validator=_settings.flag)
    label: str = attrs.field(default="", validator=_settings.text)
    hide_pages: bool = attrs.field(default=False, validator=_settings.flag)
    locked: bool = attrs.field(default=False, validator=_settings.flag)
    own_hostname: str | None = attrs.field(
        default=None, converter=converters.optional(host_name)
    )
    has_ssl: bool = attrs.field(default=True, validator=_settings.flag)


@attrs.define(slots=False)
class Denied(Exception):  # noqa: N818 - it becomes a response
    """The request gets an error response."""

    status: int
    error: str
    more: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """What the body has besides."""
    headers: Mapping[str, str] = attrs.field(factory=dict[str, str])


Keys = dict[str, "set[str] | None"]
"""The API keys, each with the host names that it has access to; None means all."""


def check_stats(website: Website, query: Query, key: str | None, keys: Keys) -> None:
    """Check the access of a Stats request (section 5).

    Raises:
        Denied: The key is unknown, or *website* or its pages need another one.
    """
    if key is not None and key not in keys:
        raise Denied(401, "The Api-Key is not valid (section 5)")
    access = frozenset[str]() if key is None else keys[key]
    opened = access is None or website.hostname in access
    if not website.public and not opened:
        if key is None:
            raise Denied(
                401, "This website is private: it needs an Api-Key (section 5)"
            )
        raise Denied(403, "The Api-Key has no access to this website (section 5)")
    if website.locked:
        text = "This website is locked, because its badge is missing (section 7)"
        raise Denied(423, text, {"code": "BADGE_REQUIRED"})
    if website.hide_pages and query.reads_pages and not opened:
        text = (
            "This website hides its top pages: the field pages, page filters, a path "
            "in the address and version=2 need an Api-Key with access (section 5)"
        )
        raise Denied(401 if key is None else 403, text)


def check_admin(headers: Headers, keys: Keys, user_id: str) -> str:
    """Check the credentials of an Admin request, and return its key (section 5).

    Raises:
        Denied: One of them is missing or wrong.
    """
    key, user = map(headers.get, ("api-key", "user-id"))
    if not key:
        raise Denied(400, "No Api-Key found, specify via header")
    if not user:
        raise Denied(400, "No User-Id defined")
    if user != user_id and not _USER_ID.fullmatch(user):
        raise Denied(400, "Invalid user id format, it should be a UUIDv4")
    if key not in keys or user != user_id:
        raise Denied(401, "The Api-Key or the User-Id is not valid")
    return key
