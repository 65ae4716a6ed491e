"""Compare a website with its specification."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import attrs

from sitestats._common.hostnames import HostnameError, normalise_hostname
from sitestats._protocol.checks import same_value
from sitestats._results.websites import AddedWebsite, Website

from ._checks import DEFAULT_ZONE, value_text
from ._specs import WebsiteSpec

BY_HAND: Final = (
    "no endpoint of the service changes a website: change these by hand, in the "
    "website's settings in the service's dashboard"
)


@attrs.frozen
class Difference:
    """One value of a website that differs from its specification."""

    name: str
    """``"timezone"``, ``"public"``, ``"label"``, or ``"hostname"`` where the
    service added the website under another one."""
    wanted: str | bool
    found: str | bool | None

    def to_dict(self) -> dict[str, str | bool | None]:
        """For JSON: ``field``, ``expected`` and ``found``."""
        return {"field": self.name, "expected": self.wanted, "found": self.found}

    def __str__(self) -> str:
        found, wanted = value_text(self.found), value_text(self.wanted)
        return f"{self.name} is {found} and should be {wanted}"


def as_added(spec: WebsiteSpec) -> WebsiteSpec:
    """*spec* with the defaults for what it leaves out."""
    zone = DEFAULT_ZONE if spec.timezone is None else spec.timezone
    return attrs.evolve(spec, timezone=zone, public=bool(spec.public))


def differences_of(spec: WebsiteSpec, website: Website) -> tuple[Difference, ...]:
    """Where *website* is different from *spec*, as far as that goes."""
    return _differences(
        ("timezone", spec.timezone, website.timezone),
        ("public", spec.public, website.is_public),
        ("label", spec.label, website.label),
    )


def differences_of_added(
    spec: WebsiteSpec, added: AddedWebsite
) -> tuple[Difference, ...]:
    """Where the service made *added* different from *spec*.

    The response to an add has no label (section 2.2).
    """
    return _differences(
        ("hostname", spec.hostname, added.hostname),
        ("timezone", spec.timezone, added.timezone),
        ("public", spec.public, added.public),
    )


def _differences(
    *values: tuple[str, str | bool | None, str | bool | None],
) -> tuple[Difference, ...]:
    return tuple(
        Difference(name, wanted, found)
        for name, wanted, found in values
        # A website without a label has an empty one or none, and both mean the same.
        if wanted is not None
        and not same_value(name, wanted, "" if found is None else found)
    )


def normalised(hostname: str) -> str:
    """A host name of the service in the form that specifications have."""
    try:
        return normalise_hostname(hostname)
    except HostnameError:
        return hostname.lower()


def by_hostname(websites: Iterable[Website]) -> dict[str, Website]:
    """The websites by their normalised host names; the first of each name."""
    found: dict[str, Website] = {}
    for website in websites:
        found.setdefault(normalised(website.hostname), website)
    return found
