"""Split an address of the service into host name, page and parameters.

The service's data is at the address of its dashboard with ``.json`` behind it
(section 1), so both are read by the same rules.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final
from urllib.parse import parse_qsl, unquote

from sitestats._common.errors import Problem, QueryError
from sitestats._common.hostnames import BaseAddress
from sitestats._common.text import shown

from .rules import broken, refused

_ADDRESS: Final = re.compile(
    r"(?P<root>[A-Za-z]+://[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.DOTALL,
)
_DATA: Final = ".json"


def parse_base(base_url: str | BaseAddress, where: str) -> BaseAddress:
    """Parse *base_url*.

    Raises:
        QueryError: It is no base address.
    """
    if isinstance(base_url, BaseAddress):
        return base_url
    try:
        return BaseAddress.parse(base_url)
    except ValueError as error:
        message = str(error).removesuffix(".")
        raise QueryError(refused("address", message, where)) from None


def split_address(
    address: object, base_url: str | BaseAddress | None
) -> tuple[str, str | None, list[tuple[str, str]]]:
    """The host name, the page, and the parameters, all decoded.

    Raises:
        QueryError: *address* is not below the base address.
    """
    if not isinstance(address, str) or (match := _ADDRESS.fullmatch(address)) is None:
        raise _error(
            "give the full address as a str, such as "
            "'https://stats.example.org/example.com?country=NL'"
        )
    root = parse_base(match["root"], "from_url")
    base = root if base_url is None else parse_base(base_url, "from_url")
    try:
        path = unquote(match["path"], errors="strict")
        prefix = unquote(base.prefix, errors="strict")
        pairs = parse_qsl(match["query"] or "", keep_blank_values=True, errors="strict")
    except ValueError:
        raise _error(
            "the address has percent-encoding that is not UTF-8: copy it again"
        ) from None
    if root.origin != base.origin or not path.startswith(f"{prefix}/"):
        raise _error(f"the address is not one below the base address {base}")
    # One suffix only: a page may itself be called /data.json.
    below = path.removeprefix(prefix).removesuffix(_DATA)[1:]
    hostname, slash, page = below.partition("/")
    if not page and not path.endswith(_DATA):
        # A slash behind the host name is common and names no page.
        return hostname, None, pairs
    return hostname, f"/{page}" if slash else None, pairs


def repeated_parameters(pairs: list[tuple[str, str]]) -> list[Problem]:
    """A problem for each parameter that is given more than once."""
    return [
        broken(
            "address-once",
            f"the parameter {shown(name)} is there twice: leave one out",
            "from_url",
        )
        for name, count in Counter(name for name, _ in pairs).items()
        if count > 1
    ]


def _error(message: str) -> QueryError:
    return QueryError(refused("address", message, "from_url"))
