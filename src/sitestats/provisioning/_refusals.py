"""Classify the error of an add: account-wide, refused, not sent, or ambiguous.

The service's document gives neither statuses nor messages for a missing role or a
reached website limit (section 7), and every refusal may be a 400. So the
message counts too.
"""

from __future__ import annotations

import copy
import re
from typing import Final, TypeVar

from sitestats._common.errors import (
    ServiceError,
    SiteStatsError,
    WebsiteLockedError,
)
from sitestats._protocol.failures import is_about_account

E = TypeVar("E", bound=SiteStatsError)

# No credentials, no payment, no permission.
_ACCOUNT_STATUSES: Final = frozenset((401, 402, 403))
_REQUEST_TIMEOUT: Final = 408
_SERVER_ERROR: Final = 500


def is_account_wide(error: SiteStatsError, hostname: str) -> bool:
    """Whether every other website would be refused for the same reason.

    *hostname* is removed from the message first: ``plan.example`` and
    ``admin.example`` are valid names.
    """
    # The class of an error may come from the words of its message, which contains
    # the host name: so the status counts, and then the other words.
    if not isinstance(error, ServiceError) or isinstance(error, WebsiteLockedError):
        return False
    if error.status in _ACCOUNT_STATUSES:
        return True
    message = re.sub(re.escape(hostname), "", error.message, flags=re.IGNORECASE)
    return is_about_account(message)


def is_refusal(error: SiteStatsError) -> bool:
    """Whether the service certainly did not add the website.

    A 5xx is no refusal: the service may have failed after it had added the
    website. Neither is 408, which a gateway sends when it stops waiting.
    """
    return (
        isinstance(error, ServiceError)
        and error.status < _SERVER_ERROR
        and error.status != _REQUEST_TIMEOUT
    )


def message_of(error: SiteStatsError) -> str:
    """What went wrong, on one line: the service's own message if there is one."""
    text = error.message if isinstance(error, ServiceError) else str(error)
    return " ".join(text.split())


def introduced(what: str, error: E) -> E:
    """A copy of *error* whose message begins with *what* the error means for a run."""
    copied, text = copy.copy(error), f"{what}: {message_of(error)}"
    if hasattr(copied, "message"):
        copied.message = text
    else:
        copied.args = (text,)
    return copied
