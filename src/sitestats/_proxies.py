"""Which proxy the environment names for an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._hostnames import BaseAddress


def proxy_from_environment(base: BaseAddress) -> str | None:
    """The address of the proxy that leads to *base*, or None.

    Reads ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, and
    what the system's settings say where it has them, as the standard library does.
    """
    from urllib.request import (
        getproxies,
        proxy_bypass,
    )

    proxies = getproxies()
    proxy = proxies.get(base.scheme) or proxies.get("all")
    host = base.host if base.port is None else f"{base.host}:{base.port}"
    if not proxy or proxy_bypass(host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
