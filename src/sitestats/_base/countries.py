"""Countries by their codes, as the package tzdata has them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

_MISTAKEN: Final[Mapping[str, str]] = {
    "CS": "CZ",
    "DA": "DK",
    "EL": "GR",
    "EN": "GB",
    "JA": "JP",
    "KO": "KR",
    "SP": "ES",
    "UK": "GB",
    "ZH": "CN",
}
"""Codes that no country has, and the country that is meant; most are of languages."""


@cache
def countries() -> Mapping[str, str]:
    """The names of countries in English, by their codes of ISO 3166; none without the
    package.
    """
    # It takes long to import, for what few programs need.
    from importlib import resources

    try:
        file = resources.files("tzdata").joinpath("zoneinfo", "iso3166.tab")
        lines = file.read_text("utf-8").splitlines()
    except (ImportError, OSError):
        return {}
    pairs = (line.partition("\t") for line in lines if not line.startswith("#"))
    return {code: name for code, tab, name in pairs if tab}


def likely_country(text: str) -> str | None:
    """The code that *text* means in another form; None if it is a code itself, or if
    the service may have a code of its own.

    >>> [likely_country(text) for text in ("UK", "nl", "Netherlands", "NL", "EU")]
    ['GB', 'NL', 'NL', None, None]
    """
    upper = text.strip().upper()
    if upper in countries() or upper in _MISTAKEN:
        code = _MISTAKEN.get(upper, upper)
        return None if code == text else code
    names = {name.upper(): code for code, name in countries().items()}
    return names.get(upper)
