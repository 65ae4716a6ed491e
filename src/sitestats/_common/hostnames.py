"""Validate and normalise host names and base addresses (IDNA, punycode).

The two are checked differently. The service's document says only "hostname of the
website". A host name here has a dot and is no number, for three reasons. Without a
dot it is nearly always a slip, such as ``shop`` for ``shop.example``, and to add a
website can cost money. In an address, ``/contact`` or ``/students`` is a page of
the service itself. And an IP address is no name, but what a name leads to.

A service may well be on ``localhost``, on an IP address or on a single label of a
private network.
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import quote

import attrs

from .text import shown

_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LONGEST_NAME: Final = 253
# Mapping a name costs time in proportion to its length and punycode costs more:
# no name that is shorter than 254 in ASCII comes from more characters than this.
_LONGEST_INPUT: Final = 1024

_MUST_NOT_CONTAIN: Final = {
    "://": "a scheme: leave 'https://' out",
    "/": ("a '/': leave the path out, or give it to .path()"),
    "\\": "a backslash",
    "?": "a '?': leave the query out",
    "#": "a '#': leave the fragment out",
    "@": "an '@'",
    ":": "a ':': leave the port out",
    "%": "a '%': give the name itself, not percent-encoded",
    "*": "a '*': a host name is that of one website",
}


class HostnameError(ValueError):
    """A text is no host name; the message says what to do."""


def normalise_hostname(text: object) -> str:
    """The host name of a website, as it is sent: lower case and ASCII.

    An internationalised name becomes punycode by IDNA 2008, after the mapping
    of UTS 46 that browsers apply to what people type: the service knows a
    website by what the visitors' browsers report. A name that is already
    ASCII is not decoded, so one that only older rules allow (an emoji) can be
    given in its ``xn--`` form. Underscores are allowed: browsers open such
    names. A dot at the end is dropped.

    Raises:
        HostnameError: The text is no host name. IP addresses and single labels
            such as ``localhost`` are none: a website has a name of the DNS.

    >>> from sitestats._common.hostnames import normalise_hostname
    >>> normalise_hostname("Bücher.Example.")
    'xn--bcher-kva.example'
    """
    if not isinstance(text, str):
        raise HostnameError(
            f"A host name is text such as 'example.com', not {shown(text)}"
        )
    name = _to_ascii(str.__str__(text), shown(text))
    labels = name.split(".")
    if len(labels) == 1:
        raise HostnameError(
            f"{shown(text)} has no dot: give the website's whole host name, such as "
            "'example.com'"
        )
    # Browsers read a name that ends in a number as an IPv4 address.
    if _NUMBER.fullmatch(labels[-1]):
        raise HostnameError(
            f"{shown(text)} is an IP address or ends in a number: give the "
            "website's host name, such as 'example.com'"
        )
    return name


def _to_ascii(text: str, display: str) -> str:
    """*text* as labels of ASCII letters, digits, hyphens and underscores."""
    if not text:
        raise HostnameError(
            "The host name is empty: give the website's, such as 'example.com'"
        )
    # First: what follows looks at each character.
    if len(text) > _LONGEST_INPUT:
        raise _too_long(display)
    _refuse_foreign_characters(text, display)
    name = text.lower() if text.isascii() else _encode(text, display)
    _refuse_foreign_characters(name, display)
    name = name.removesuffix(".")
    if len(name) > _LONGEST_NAME:
        raise _too_long(display)
    for label in name.split("."):
        if not label:
            raise HostnameError(
                f"{display} has an empty part: write one dot between two names, and "
                "none in front"
            )
        if _LABEL.fullmatch(label) is None:
            raise HostnameError(
                f"{display} has a part that no host name can have: each has 1 to 63 "
                "letters, digits, hyphens and underscores, and no hyphen at either end"
            )
    return name


def _too_long(display: str) -> HostnameError:
    return HostnameError(
        f"{display} is longer than a host name can be ({_LONGEST_NAME} characters)"
    )


def _refuse_foreign_characters(text: str, display: str) -> None:
    for piece, meaning in _MUST_NOT_CONTAIN.items():
        if piece in text:
            raise HostnameError(
                f"{display} has "
                + meaning
                + "; give the host name alone, such as 'example.com'"
            )
    if any(char.isspace() or char < " " or char == "\x7f" for char in text):
        raise HostnameError(
            f"{display} has a space or a control character: give the host name alone, "
            "such as 'example.com'"
        )


def _encode(text: str, display: str) -> str:
    import idna

    try:
        mapped = idna.uts46_remap(text, std3_rules=False)
        return ".".join(
            label if label.isascii() else idna.alabel(label).decode("ascii")
            for label in mapped.split(".")
        )
    except UnicodeError as error:
        raise HostnameError(
            f"{display} is no valid internationalised name; if its website exists, "
            "give the name in its 'xn--' form"
        ) from error


_ADDRESS: Final = re.compile(
    r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<path>[^?#]*)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_AUTHORITY: Final = re.compile(
    r"(?P<host>\[[^\]]*\]|[^:\[\]]*)(?::(?P<port>[0-9]{1,5}))?"
)
_SEGMENT: Final = re.compile(r"(?:[^%]|%[0-9A-Fa-f]{2})+")
_DOT_SEGMENT: Final = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HIGHEST_PORT: Final = 65535


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
            ValueError: It is none. The message never shows the text, which may
                be a credential in the wrong place.
        """
        if not isinstance(text, str):
            message = (
                "The base address is a str such as 'https://stats.example.com', not a "
                f"value of type {type(text).__name__}"
            )
            raise ValueError(message)  # noqa: TRY004 - callers map one kind of error
        address = str.__str__(text)
        if any(char.isspace() or not char.isprintable() for char in address):
            raise ValueError(
                "The base address has a space or a control character in it: give it "
                "as in 'https://stats.example.com'"
            )
        match = _ADDRESS.fullmatch(address)
        if match is None:
            raise ValueError(
                "The base address starts with 'https://' (or 'http://'), as in "
                "'https://stats.example.com'"
            )
        if "@" in match["authority"]:
            raise ValueError(
                "The base address has a user name or password in it: leave them "
                "out, and give the credentials as api_key and user_id"
            )
        if match["rest"]:
            raise ValueError(
                "The base address ends before any '?' or '#': requests bring their "
                "own parameters"
            )
        authority = _AUTHORITY.fullmatch(match["authority"])
        if authority is None:
            raise ValueError(
                "The base address has no valid host and port: give it as in "
                "'https://stats.example.com:8443'"
            )
        return cls(
            match["scheme"].lower(),
            service_host(authority["host"]),
            _port(authority["port"]),
            _prefix(match["path"]),
        )

    @property
    def authority(self) -> str:
        """Host and port as the header ``Host`` has them: the scheme's own port is
        left out.
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.port is None or self.port == _DEFAULT_PORTS[self.scheme]:
            return host
        return f"{host}:{self.port}"

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and the port in use: credentials are for one origin."""
        return (
            self.scheme,
            self.host,
            _DEFAULT_PORTS[self.scheme] if self.port is None else self.port,
        )

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"


def service_host(text: str) -> str:
    """The host of an address, lower case and ASCII, without an IP's brackets.

    Raises:
        ValueError: It is none.
    """
    if text.startswith("["):
        try:
            address = ipaddress.IPv6Address(text[1:-1])
        except ValueError:
            raise ValueError(
                "The base address has no valid IPv6 address between its brackets"
            ) from None
        if address.scope_id is not None:
            raise ValueError("The base address's IPv6 address has a zone: leave it out")
        return str(address)
    if not text:
        raise ValueError(
            "The base address has no host: give it as in 'https://stats.example.com'"
        )
    host = _to_ascii(text, "The base address's host")
    if _NUMBER.fullmatch(host.rpartition(".")[2]):
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError:
            raise ValueError(
                "The base address's host ends in a number and is no IPv4 address"
            ) from None
    return host


def _port(text: str | None) -> int | None:
    if text is None:
        return None
    port = int(text)
    if not 1 <= port <= _HIGHEST_PORT:
        raise ValueError(f"The base address's port is from 1 to {_HIGHEST_PORT}")
    return port


def _prefix(path: str) -> str:
    stripped = path.rstrip("/")
    if not stripped:
        return ""
    for segment in stripped[1:].split("/"):
        if "\\" in segment or _SEGMENT.fullmatch(segment) is None:
            raise ValueError(
                "The base address's path has an empty part, a backslash or a '%' that "
                "starts no percent-encoding"
            )
        if _DOT_SEGMENT.fullmatch(segment):
            raise ValueError(
                "The base address's path has a '.' or '..' between its slashes: write "
                "the path that they lead to"
            )
    return quote(stripped, safe="/%:@!$&'()*+,;=~")
