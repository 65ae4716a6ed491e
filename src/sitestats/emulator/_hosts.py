"""Host names as the emulator takes them: from rows, set-up and requests."""

from __future__ import annotations

import re
from typing import Final

import idna

LONGEST: Final = 253
"""Characters that a host name may have."""

# Browsers open names with an underscore, so there are websites with one.
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
# What browsers take for an IPv4 address, whatever comes before it.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")


def host_name(text: object) -> str | None:
    """*text* in lower case and punycode, or None when no website can be called so.

    A website's name has a dot at least, and is no address of a machine.
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
