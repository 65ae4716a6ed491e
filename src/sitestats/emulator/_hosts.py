"""Normalize and check the host names of websites."""

from __future__ import annotations

import re
from typing import Final

import idna

LONGEST: Final = 253
"""The most characters of a host name."""

# Browsers open names with an underscore, so there are websites with one.
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# Browsers read a name that ends in such a label as an IPv4 address.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


def host_name(text: object) -> str | None:
    """*text* in lower case and punycode, or None if it can't name a website.

    A website's name has at least one dot, and is not an IP address.
    """
    if not isinstance(text, str):
        return None
    name = text.lower().removesuffix(".")
    if not name.isascii():
        try:
            name = idna.encode(name, uts46=True).decode("ascii")
        except idna.IDNAError:
            return None
    labels = name.split(".")
    good = (
        len(name) <= LONGEST
        and len(labels) > 1
        and all(_LABEL.fullmatch(label) for label in labels)
        and not _NUMBER.fullmatch(labels[-1])
    )
    return name if good else None


def valid_host_name(text: object) -> str:
    """The same, with an error in place of None.

    Raises:
        ValueError: It can't name a website.
    """
    name = host_name(text)
    if name is None:
        raise ValueError(f"{text!r} is not a valid host name of a website")
    return name
