"""Validate and normalise host names and base addresses (IDNA, punycode).

A website's host name has a dot and is not a number: ``shop`` for ``shop.example`` is a
slip, and to add a website can cost money. A service may be on ``localhost`` or an IP
address.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import quote, urlsplit

import attrs

from .text import shown

_LABEL: Final = "[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME: Final = re.compile(rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*", re.ASCII)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class HostnameError(ValueError):
    """A text is not a host name; the message says what to do."""


def normalise_hostname(text: object) -> str:
    """The host name of a website, as it is sent: lower case and ASCII.

    An internationalised name becomes punycode by IDNA 2008, after the mapping of UTS 46
    that browsers apply. Underscores are allowed, as in browsers; a dot at the end is
    dropped.

    Raises:
        HostnameError: The text is not a host name.

    >>> from sitestats._common.hostnames import normalise_hostname
    >>> normalise_hostname("Bücher.Example.")
    'xn--bcher-kva.example'
    """
    name = _to_ascii(text) if isinstance(text, str) else ""
    if "." not in name or name.rpartition(".")[2].isdigit():
        raise HostnameError(
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
    """Where a service is: what every request's path is put behind.

    >>> from sitestats._common.hostnames import BaseAddress
    >>> base = BaseAddress.parse("https://Stats.example.com/analytics/")
    >>> str(base), base.origin
    ('https://stats.example.com/analytics', ('https', 'stats.example.com', 443))
    """

    scheme: str
    """``"https"`` or ``"http"``."""
    host: str
    """Lower case and ASCII; an IPv6 address without its brackets."""
    port: int | None = None
    """As it was given; None means the scheme's own."""
    prefix: str = ""
    """What comes before every path, without a slash at its end: ``"/analytics"``."""

    @classmethod
    def parse(cls, text: object) -> BaseAddress:
        """Read a base address.

        Raises:
            ValueError: It is not valid. The message never shows the text, which may
                be a credential in the wrong place.
        """
        try:
            parts = urlsplit(text if isinstance(text, str) else "")
            host, port = service_host(parts.hostname or ""), parts.port
        except ValueError:
            parts, host, port = urlsplit(""), "", None
        bad = not str(text).isprintable() or parts.netloc.endswith(":") or "%" in host
        if bad or not host or parts.scheme not in _DEFAULT_PORTS or port == 0:
            raise ValueError(
                "The base address is not valid: give one that begins with 'https://' "
                "or 'http://', such as 'https://stats.example.com:8443'"
            )
        if "@" in parts.netloc or "?" in str(text) or "#" in str(text):
            raise ValueError(
                "The base address has a user name, a '?' or a '#': leave it out, and "
                "give the credentials as api_key and user_id"
            )
        prefix = parts.path.rstrip("/")
        if re.search(
            r"//|\\|/(\.|%2e){1,2}(/|$)|%(?![0-9a-f]{2})|\s", prefix, re.IGNORECASE
        ):
            raise ValueError("The base address has a path that can't be requested")
        return cls(parts.scheme, host, port, quote(prefix, safe="/%:@!$&'()*+,;=~"))

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


def service_host(text: str) -> str:
    """The host of an address, lower case and ASCII, without an IP's brackets.

    Raises:
        ValueError: It is not valid.
    """
    bare = text.strip("[]")
    if ":" in bare or bare.rpartition(".")[2].isdigit():
        return str(ipaddress.ip_address(bare))
    if not (host := _to_ascii(bare)):
        raise ValueError("The address has no valid host")
    return host
