"""Read an address of the service: host name, page and parameters, each by its rule.

The service's data is at the address of its dashboard with ``.json`` after it (section
1). What a dashboard adds to its address is not documented, so it is refused: the
numbers would silently be others than those that it shows.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, unquote, urlsplit

from sitestats._base.hostnames import BaseAddress
from sitestats._base.text import shown

from . import rules
from .parameters import checked_params, is_documented
from .rules import Problems, broken, refusal


def parse_base(base_url: str | BaseAddress, where: str) -> BaseAddress:
    """Parse *base_url*."""
    if isinstance(base_url, BaseAddress):
        return base_url
    try:
        return BaseAddress.parse(base_url)
    except ValueError as error:
        raise refusal("address", str(error), where) from None


def read_address(
    address: str, base_url: str | BaseAddress | None
) -> tuple[str, str | None, dict[str, str]]:
    """The host name, page and parameters of an address of a dashboard or of its data.

    Raises:
        InvalidInputError: It is not below the base address, or a part breaks a rule; it
            holds every problem.
    """
    try:
        parts = urlsplit(address)
        root = BaseAddress.parse(f"{parts.scheme}://{parts.netloc}")
        path = unquote(parts.path, errors="strict")
        pairs = parse_qsl(parts.query, keep_blank_values=True, errors="strict")
    except (AttributeError, TypeError, ValueError):
        message = (
            "give the whole address, such as "
            "'https://stats.example.org/example.com?country=NL', in UTF-8"
        )
        raise refusal("address", message, "from_url") from None
    base = root if base_url is None else parse_base(base_url, "from_url")
    prefix = unquote(base.prefix)
    below, is_data = path.removeprefix(f"{prefix}/"), path.endswith(".json")
    if root.origin != base.origin or below in {"", path}:
        message = (
            f"the address names no website below {base}: give a host name alone, or an "
            "address such as 'https://stats.example.org/example.com'"
        )
        raise refusal("address", message, "from_url")
    # One suffix only: a page may itself be called /data.json.
    hostname, slash, name = below.removesuffix(".json").partition("/")
    # A slash after the host name of a dashboard is common and names no page.
    page = f"/{name}" if name or (slash and is_data) else None
    with Problems() as problems:
        host = problems.check(rules.hostname, hostname)
        if page is not None:
            problems.check(rules.path, page)
        params = _checked(pairs, problems, is_data=is_data)
    return host or "", page, params


def _checked(
    pairs: list[tuple[str, str]], problems: Problems, *, is_data: bool
) -> dict[str, str]:
    documented = dict[str, str]()
    for name, value in pairs:
        if name in documented:
            message = f"the parameter {shown(name)} is there twice: leave one out"
            problems.append(broken("address-parameter", message, "from_url"))
        elif not is_data and not is_documented(name):
            message = (
                f"the parameter {shown(name)} of a dashboard is not documented: leave "
                "it out, and use the steps of a query"
            )
            problems.append(broken("address-parameter", message, "from_url"))
        else:
            documented[name] = value
    return checked_params(documented.items(), problems)
