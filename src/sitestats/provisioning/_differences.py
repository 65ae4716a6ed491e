"""Compare a website with its specification."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from sitestats._common.hostnames import normalise_hostname
from sitestats._common.text import shown
from sitestats._common.zones import same_zone
from sitestats._results.websites import AddedWebsite, Website

from ._specs import WebsiteSpec


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
        found, wanted = _text(self.found), _text(self.wanted)
        return f"{self.name} is {found} and should be {wanted}"


def _text(value: str | bool | None) -> str:  # noqa: FBT001 - a value to show
    if isinstance(value, bool):
        return "true" if value else "false"
    return "not set" if value is None else shown(value)


def as_added(spec: WebsiteSpec) -> WebsiteSpec:
    """*spec* with the defaults for what it leaves out."""
    zone = "UTC" if spec.timezone is None else spec.timezone
    return attrs.evolve(spec, timezone=zone, public=bool(spec.public))


def differences_of(
    spec: WebsiteSpec, website: Website | AddedWebsite
) -> tuple[Difference, ...]:
    """Where *website* is different from *spec*, as far as that goes."""
    found: dict[str, str | bool | None] = {
        "hostname": normalised(website.hostname),
        "timezone": website.timezone,
    }
    if isinstance(website, AddedWebsite):
        # The response to an add has no label (section 2.2).
        found["public"] = website.public
    else:
        found |= {"public": website.is_public, "label": website.label}
    return tuple(
        Difference(name, wanted, value)
        for name, value in found.items()
        if (wanted := getattr(spec, name)) is not None
        and not _is_same(name, wanted, value)
    )


def _is_same(name: str, wanted: str | bool, found: str | bool | None) -> bool:  # noqa: FBT001 - values
    if name == "timezone":
        return isinstance(found, str) and same_zone(str(wanted), found)
    # A website without a label has an empty one or none, and both mean the same.
    return wanted == ("" if found is None else found)


def normalised(hostname: str) -> str:
    """A host name of the service in the form that specifications have."""
    try:
        return normalise_hostname(hostname)
    except ValueError:
        return hostname.lower()


def by_hostname(websites: Iterable[Website]) -> dict[str, Website]:
    """The websites by their normalised host names; the first of each name."""
    return {normalised(website.hostname): website for website in [*websites][::-1]}
