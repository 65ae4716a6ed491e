"""Access rules: API keys and private websites (section 5); host names."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

import attrs
import idna

from ._http import Headers
from ._parameters import Query

MAY_ADD: Final = ("owner", "admin", "developer")
"""The roles that may add a website (section 4.2)."""

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


def host_name(text: object) -> str | None:
    """*text* in lower case and punycode, or None if it can't name a website.

    A website's name has at least one dot, and is not an IP address.
    """
    if not isinstance(text, str):
        return None
    name = text.lower().removesuffix(".")
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except idna.IDNAError:
            return None
    return name if _HOST.fullmatch(name) else None


def valid_host_name(text: object) -> str:
    """Like ``host_name``, with an error instead of None.

    Raises:
        ValueError: *text* can't name a website.
    """
    name = host_name(text)
    if name is None:
        raise ValueError(f"{text!r} is not a valid host name of a website")
    return name


@attrs.frozen
class Website:
    """One website and its settings."""

    hostname: str
    timezone: str = "UTC"
    public: bool = False
    label: str = ""
    hide_pages: bool = False
    locked: bool = False
    own_hostname: str | None = None
    has_ssl: bool = True


@attrs.frozen
class Denied:
    """Why a request gets an error response."""

    status: int
    error: str
    code: str | None = None


@attrs.frozen
class Key:
    """An API key, and the host names that it has access to; None means all."""

    text: str = attrs.field(repr=False)
    access: frozenset[str] | None = None


def find(text: str | None, keys: Collection[Key]) -> Key | None:
    """The key with this text."""
    return next((key for key in keys if key.text == text), None)


def stats(
    website: Website, query: Query, key: Key | None, *, sent: bool
) -> Denied | None:
    """Check the access of a Stats request (section 5).

    Args:
        website: The requested website.
        query: The query of the request.
        key: The key of the request; None if it is missing or unknown.
        sent: Whether the request has a key.
    """
    if sent and key is None:
        return Denied(401, "The Api-Key is not valid (section 5)")
    opened = key and (key.access is None or website.hostname in key.access)
    if not website.public and not opened:
        if key is None:
            return Denied(
                401, "This website is private: it needs an Api-Key (section 5)"
            )
        return Denied(403, "The Api-Key has no access to this website (section 5)")
    if website.locked:
        text = "This website is locked, because its badge is missing (section 7)"
        return Denied(423, text, "BADGE_REQUIRED")
    if website.hide_pages and query.reads_pages and not opened:
        text = (
            "This website hides its top pages: the field pages, page filters, a path "
            "in the address and version=2 need an Api-Key with access (section 5)"
        )
        return Denied(401 if key is None else 403, text)
    return None


def admin(headers: Headers, keys: Collection[Key], user_id: str) -> Key | Denied:
    """The key of an Admin request, which needs a user ID too (section 5)."""
    text = headers.get("api-key")
    user = headers.get("user-id")
    if not text:
        return Denied(400, "No Api-Key found, specify via header")
    if not user:
        return Denied(400, "No User-Id defined")
    if user != user_id and not _USER_ID.fullmatch(user):
        return Denied(400, "Invalid user id format, it should be a UUIDv4")
    key = find(text, keys)
    if key is None or user != user_id:
        return Denied(401, "The Api-Key or the User-Id is not valid")
    return key
