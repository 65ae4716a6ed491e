"""Validate and normalise host names and base addresses (IDNA, punycode).

A website's host name has a dot and is not a number: ``shop`` for ``shop.example`` is a
slip, and to add a website can cost money. A service may be on ``localhost`` or an IP
address.
"""

from __future__ import annotations

import ipaddress
import re
from contextlib import suppress
from typing import Final
from urllib.parse import quote, urlsplit

import attrs

from sitestats._base.text import shown

_LABEL: Final = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*", re.ASCII)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_NO_BASE: Final = re.compile(
    r"[@?#\\\s]|[^:]//|/(\.|%2e){1,2}(/|$)|%(?![0-9a-f]{2})", re.IGNORECASE
)
"""A user name, a query, a fragment, and paths that servers resolve to others."""
is_loopback: Final = re.compile(r"(.+\.)?localhost|127\.[0-9.]+|::1").fullmatch
"""Tells the hosts that are this machine."""


def normalise_hostname(text: object) -> str:
    """The host name of a website, as it is sent: lower case and ASCII.

    An internationalised name becomes punycode by IDNA 2008, after the mapping of UTS 46
    that browsers apply. Underscores are allowed, as in browsers; a dot at the end is
    dropped.

    Raises:
        ValueError: The text is not a host name; the message says what to do.

    >>> from sitestats._base.hostnames import normalise_hostname
    >>> normalise_hostname("Bücher.Example.")
    'xn--bcher-kva.example'
    """
    name = _to_ascii(text) if isinstance(text, str) else ""
    if "." not in name or name.rpartition(".")[2].isdigit():
        raise ValueError(
            f"{shown(text)} is not a valid host name of a website: give the whole name "
            "alone, such as 'example.com', without a scheme, port or path"
        )
    return name


def _to_ascii(text: str) -> str:
    """*text* as labels of ASCII letters, digits, hyphens, underscores; or nothing."""
    name = text.lower()
    if not name.isascii() and len(name) < 1024:  # noqa: PLR2004 - it takes time
        import idna

        try:
            labels = idna.uts46_remap(name, std3_rules=False).split(".")
            name = ".".join(
                label if label.isascii() else idna.alabel(label).decode()
                for label in labels
            )
        except UnicodeError:
            return ""
    name = name.removesuffix(".")
    return name if _NAME.fullmatch(name) else ""


@attrs.frozen
class BaseAddress:
    """The address of a service, which the path of each request follows.

    >>> from sitestats._base.hostnames import BaseAddress
    >>> base = BaseAddress.parse("https://Stats.example.com/analytics/")
    >>> str(base), base.origin
    ('https://stats.example.com/analytics', ('https', 'stats.example.com', 443))
    """

    scheme: str
    """``"https"`` or ``"http"``."""
    host: str
    """Lower case and ASCII; an IPv6 address without its brackets."""
    port: int | None = None
    """The port as it was given; None means the scheme's default port."""
    prefix: str = ""
    """What comes before every path, without a slash at its end: ``"/analytics"``."""

    @classmethod
    def parse(cls, text: object) -> BaseAddress:
        """Read a base address.

        Raises:
            ValueError: It is not valid. The message never shows the text, which may
                be a credential in the wrong place.
        """
        given = text if isinstance(text, str) and text.isprintable() else ""
        with suppress(ValueError):
            parts = urlsplit(given)
            host, port = _service_host(parts.hostname or ""), parts.port
            is_http = parts.scheme in _DEFAULT_PORTS and not parts.netloc.endswith(":")
            if is_http and host and port != 0 and not _NO_BASE.search(given):
                prefix = quote(parts.path.rstrip("/"), safe="/%:@!$&'()*+,;=~")
                return cls(parts.scheme, host, port, prefix)
        raise ValueError(
            "The base address is not valid: give one that begins with 'https://' or "
            "'http://', such as 'https://stats.example.com:8443', without spaces, a "
            "user name, '?' or '#'"
        )

    @property
    def authority(self) -> str:
        """Host and port as the header ``Host`` has them: the scheme's own port is
        left out.
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        is_own = self.port in {None, _DEFAULT_PORTS[self.scheme]}
        return host if is_own else f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and the port in use: credentials are for one origin."""
        return self.scheme, self.host, self.port or _DEFAULT_PORTS[self.scheme]

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"


def _service_host(text: str) -> str:
    """The host of an address, lower case and ASCII; empty if it is not valid.

    Raises:
        ValueError: It is an IP address that is not valid.
    """
    if ":" in text or text.rpartition(".")[2].isdigit():
        # The zone of an IPv6 address is known to one machine alone.
        return "" if "%" in text else str(ipaddress.ip_address(text))
    return _to_ascii(text)
