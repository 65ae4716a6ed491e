"""Access control: API keys and private websites (section 5), roles (section 4.2)."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

import attrs

from ._http import Headers
from ._parameters import Query

MAY_ADD: Final = ("owner", "admin", "developer")
"""The roles that may add a website (section 4.2)."""

_USER_ID: Final = re.compile(
    r"(sa_user_id_)?[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
    re.IGNORECASE,
)


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

    def opens(self, hostname: str) -> bool:
        """Whether the key has access to a website."""
        return self.access is None or hostname in self.access


def stats(
    website: Website, query: Query, key: Key | None, *, sent: bool
) -> Denied | None:
    """Check the access of a Stats request (section 5).

    Args:
        website: The requested website.
        query: What is requested.
        key: The key of the request; None if there is none, or it is unknown.
        sent: Whether the request has a key.
    """
    if sent and key is None:
        return Denied(401, "The Api-Key is not valid (section 5)")
    opened = key is not None and key.opens(website.hostname)
    if not website.public and not opened:
        if key is None:
            return Denied(
                401, "This website is private: it needs an Api-Key (section 5)"
            )
        return Denied(403, "The Api-Key has no access to this website (section 5)")
    if website.locked:
        return Denied(
            423,
            "This website is locked, as the badge is missing from it (section 7)",
            "BADGE_REQUIRED",
        )
    if website.public and website.hide_pages and query.reads_pages and not opened:
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


def find(text: str | None, keys: Collection[Key]) -> Key | None:
    """The key with this text."""
    return next((key for key in keys if key.text == text), None)
