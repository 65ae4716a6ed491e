"""Errors for unknown arguments of a client, by the names of other libraries too."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final, NoReturn

from sitestats._common.text import nearest

OURS: Final = {
    "max_retries": "retries",
    "default_headers": "headers",
    "extra_headers": "headers",
    "token": "api_key",
    "key": "api_key",
    "access_token": "api_key",
    "url": "base_url",
    "host": "base_url",
    "endpoint": "base_url",
    "proxies": "proxy",
    "verify_ssl": "verify",
    "session": "http_client",
    "cache": "store",
}
"""Arguments as other libraries name them, and as a client does."""


def refuse_unknown_of_client(given: Iterable[str], known: AbstractSet[str]) -> NoReturn:
    """Raise a ``TypeError`` for the first name that is not *known*.

    >>> refuse_unknown_of_client({"max_retries": 3}, {"retries"})
    Traceback (most recent call last):
    TypeError: a client has no argument 'max_retries': it is retries=
    """
    name = next(name for name in given if name not in known)
    ours = OURS.get(name) or nearest(name, known)
    hint = f"it is {ours}=" if ours else f"it has {', '.join(sorted(known))}"
    raise TypeError(f"a client has no argument {name!r}: {hint}")
