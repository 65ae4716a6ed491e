"""Split an address of the service into host name, page and parameters.

The service's data is at the address of its dashboard with ``.json`` behind it
(section 1), so both are read by the same rules.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final
from urllib.parse import parse_qsl, unquote

import attrs

from sitestats._common.errors import QueryError
from sitestats._common.hostnames import BaseAddress
from sitestats._common.problems import Problem
from sitestats._common.text import shown

from .rules import broken, refused

_ADDRESS: Final = re.compile(
    r"(?P<root>[A-Za-z]+://[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?P<rest>#.*)?",
    re.DOTALL,
)
_DATA: Final = ".json"
_DASHBOARD: Final = "dashboard."
"""What the host of the dashboards has in front of the service's."""
_SETTINGS: Final = "settings"
"""A view of a website's dashboard, below the address of the website."""


@attrs.frozen
class Address:
    """The parts of an address, decoded."""

    hostname: str
    page: str | None
    pairs: list[tuple[str, str]]
    """The names and values of the parameters."""
    is_data: bool
    """Whether it ends in ``.json``; otherwise it is that of a dashboard."""


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
        raise QueryError(refused("address", str(error), where)) from None


def split_address(address: object, base_url: str | BaseAddress | None) -> Address:
    """The parts of an address of a dashboard or of its data.

    Raises:
        QueryError: *address* is not below the base address, or is of a view of the
            dashboard that has no data.
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
    if _is_of_dashboards(root, base):
        # That host may serve them without the path of the service's data.
        prefix = prefix if path.startswith(f"{prefix}/") else ""
    elif root.origin != base.origin:
        raise _not_below(base)
    if not path.startswith(f"{prefix}/"):
        raise _not_below(base)
    is_data = path.endswith(_DATA)
    # One suffix only: a page may itself be called /data.json.
    below = path.removeprefix(prefix).removesuffix(_DATA)[1:]
    hostname, slash, page = below.partition("/")
    if not is_data and page == _SETTINGS and match["rest"]:
        raise _error(
            "the address is of the settings in a dashboard, which have no data: "
            "give the website's, and for its page of that name .path('/settings')"
        )
    if not page and not is_data:
        # A slash behind the host name is common and names no page.
        return Address(hostname, None, pairs, is_data)
    return Address(hostname, f"/{page}" if slash else None, pairs, is_data)


def _is_of_dashboards(root: BaseAddress, base: BaseAddress) -> bool:
    scheme, host, port = base.origin
    return root.origin == (scheme, f"{_DASHBOARD}{host}", port)


def _not_below(base: BaseAddress) -> QueryError:
    return _error(f"the address is not one below the base address {base}")


def view_problems(address: Address) -> list[Problem]:
    """What to warn of where a page may be a view of the dashboard."""
    if address.is_data or address.page != f"/{_SETTINGS}":
        return []
    return refused(
        "address-page",
        "the address is read as that of the page '/settings'; for the whole website, "
        "leave '/settings' out",
        "from_url",
    )


def callback_problems() -> list[Problem]:
    """What to warn of where an address requests JSONP."""
    return refused(
        "callback-step",
        "the callback is left out, since a query gives data: get_jsonp gives a script",
        "from_url",
    )


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
