"""Read an address of the service: host name, page and parameters, each by its rule.

The service's data is at the address of its dashboard with ``.json`` behind it (section
1). What a dashboard adds to its address is not documented, so it is refused: the
numbers would silently be others than those that it shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final
from urllib.parse import parse_qsl, unquote

import attrs

from sitestats._common.errors import QueryError
from sitestats._common.hostnames import BaseAddress
from sitestats._common.text import shown

from . import periods, rules
from .requested import is_documented
from .rules import FILTERS, METADATA, Problems, broken, refusal

_ADDRESS: Final = re.compile(
    r"(?P<root>[A-Za-z]+://[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?(?:#.*)?",
    re.DOTALL,
)
_DATA: Final = ".json"
_DASHBOARD: Final = "dashboard."
"""What the host of the dashboards has in front of the service's."""
_SETTINGS: Final = "settings"
"""A view of a website's dashboard, below the address of the website."""
_FLAGS: Final = {"true": True, "false": False}


@attrs.frozen
class Address:
    """The parts of an address, decoded and checked."""

    hostname: str
    page: str | None
    params: dict[str, str]


def parse_base(base_url: str | BaseAddress, where: str) -> BaseAddress:
    """Parse *base_url*."""
    if isinstance(base_url, BaseAddress):
        return base_url
    try:
        return BaseAddress.parse(base_url)
    except ValueError as error:
        raise refusal("address", str(error), where) from None


def read_address(address: object, base_url: str | BaseAddress | None) -> Address:
    """The parts of an address of a dashboard or of its data.

    Raises:
        QueryError: It is not below the base address, or a part breaks a rule; it holds
            every problem.
    """
    match = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    if match is None:
        raise _error(
            "give the full address, such as "
            "'https://stats.example.org/example.com?country=NL'"
        )
    root = parse_base(match["root"], "from_url")
    base = root if base_url is None else parse_base(base_url, "from_url")
    try:
        path = unquote(match["path"], errors="strict")
        prefix = unquote(base.prefix, errors="strict")
        pairs = parse_qsl(match["query"] or "", keep_blank_values=True, errors="strict")
    except ValueError:
        raise _error("the address has percent-encoding that is not UTF-8") from None
    scheme, host, port = base.origin
    if root.origin == (scheme, f"{_DASHBOARD}{host}", port):
        # That host may serve them without the path of the service's data.
        prefix = prefix if path.startswith(f"{prefix}/") else ""
    elif root.origin != base.origin:
        raise _error(f"the address is not one below the base address {base}")
    if not path.startswith(f"{prefix}/"):
        raise _error(f"the address is not one below the base address {base}")
    is_data = path.endswith(_DATA)
    # One suffix only: a page may itself be called /data.json.
    below = path.removeprefix(prefix).removesuffix(_DATA)[1:]
    hostname, slash, page = below.partition("/")
    if not page and not is_data:
        # A slash behind the host name is common and names no page.
        slash = ""
    return _checked(hostname, f"/{page}" if slash else None, pairs, is_data=is_data)


def _checked(
    hostname: str, page: str | None, pairs: list[tuple[str, str]], *, is_data: bool
) -> Address:
    params = dict[str, str]()
    with Problems() as problems:
        problems.check(rules.hostname, hostname)
        if page is not None:
            problems.check(rules.path, page)
        if page == f"/{_SETTINGS}" and not is_data:
            message = (
                "the address is of the settings in a dashboard: use .path('/settings')"
            )
            problems.append(broken("address-page", message, "from_url"))
        for name, value in pairs:
            if name in params:
                message = f"the parameter {shown(name)} is there twice: leave one out"
                problems.append(broken("address-once", message, "from_url"))
            elif not is_data and not is_documented(name):
                message = (
                    f"the parameter {shown(f'{name}={value}')} of a dashboard is not "
                    "documented: leave it out, and use the steps of a query"
                )
                problems.append(broken("address-parameter", message, "from_url"))
            else:
                params[name] = problems.check(checked_param, name, value) or value
        problems.extend(periods.order_problems(params.get("start"), params.get("end")))
    return Address(rules.hostname(hostname), page, params)


_CHECKS: Final[Mapping[str, Callable[[str], str]]] = {
    **{name: partial(rules.filter_value, name) for name in FILTERS},
    "pages": lambda text: rules.filter_value("pages", text.split(",")),
    "version": lambda text: rules.version(_number(text)),
    "limit": lambda text: rules.limit(_number(text)),
    "info": lambda text: rules.info(_FLAGS.get(text, text)),
    "timezone": periods.timezone,
    "interval": rules.interval,
    "fields": lambda text: rules.fields(text.split(",")),
    "events": lambda text: text if text == "*" else rules.events(text.split(",")),
    "start": lambda text: periods.day(text, "start"),
    "end": lambda text: periods.day(text, "end"),
}


def checked_param(name: str, value: str) -> str:
    """The text of a parameter, checked as its own step does."""
    if name in _CHECKS:
        return _CHECKS[name](value)
    if name.startswith(METADATA):
        rules.metadata(name.removeprefix(METADATA), value)
    else:
        rules.extra_name(name)
    return value


def _number(text: str) -> int | str:
    # The rule refuses what is no number.
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text


def _error(message: str) -> QueryError:
    return refusal("address", message, "from_url")
