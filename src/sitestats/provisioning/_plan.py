"""What would have to be done: specifications held against the websites there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs

from sitestats._display import HasSheet as Shown
from sitestats._hostnames import HostnameError, normalise_hostname

from ._tables import Row, to_frame

if TYPE_CHECKING:
    from sitestats._models import AddedWebsite, Website
    from sitestats._tables import Sheet

    from ._specs import WebsiteSpec

PlanState: TypeAlias = Literal["to_add", "present", "differing"]

BY_HAND: Final = (
    "no endpoint of the service changes a website: change these by hand, in the "
    "website's settings in the service's dashboard"
)


@attrs.frozen
class Difference:
    """One thing that a website has otherwise than its specification."""

    name: str
    """``"timezone"``, ``"public"``, ``"label"``, or ``"hostname"`` where the
    service added the website under another one."""
    wanted: str | bool
    found: str | bool | None

    def __str__(self) -> str:
        return f"{self.name} is {_said(self.found)} and should be {_said(self.wanted)}"


def _said(value: str | bool | None) -> str:  # noqa: FBT001 - a value to show
    if isinstance(value, bool):
        return "true" if value else "false"
    return "not set" if value is None else repr(value)


def differences_of(spec: WebsiteSpec, website: Website) -> tuple[Difference, ...]:
    """Where *website* is not as *spec* wants it.

    A label that the specification leaves out is not compared.
    """
    found: list[Difference] = []
    if website.timezone != spec.timezone:
        found.append(Difference("timezone", spec.timezone, website.timezone))
    if website.is_public is not spec.public:
        found.append(Difference("public", spec.public, website.is_public))
    # A website without a label has an empty one or none, and both mean the same.
    if spec.label is not None and spec.label != (website.label or ""):
        found.append(Difference("label", spec.label, website.label))
    return tuple(found)


def differences_of_added(
    spec: WebsiteSpec, added: AddedWebsite
) -> tuple[Difference, ...]:
    """Where the service made *added* otherwise than *spec* wants it.

    The answer to an add has no label (section 2.2).
    """
    found: list[Difference] = []
    if known_as(added.hostname) != spec.hostname:
        found.append(Difference("hostname", spec.hostname, added.hostname))
    if added.timezone != spec.timezone:
        found.append(Difference("timezone", spec.timezone, added.timezone))
    if added.public is not spec.public:
        found.append(Difference("public", spec.public, added.public))
    return tuple(found)


def known_as(hostname: str) -> str:
    """The host name that the service gave, as specifications write theirs."""
    try:
        return normalise_hostname(hostname)
    except HostnameError:
        return hostname.lower()


def by_hostname(websites: Iterable[Website]) -> dict[str, Website]:
    """The websites by their normalised names; the first one of a name counts."""
    found: dict[str, Website] = {}
    for website in websites:
        found.setdefault(known_as(website.hostname), website)
    return found


@attrs.frozen
class PlannedWebsite:
    """What a plan says of one website."""

    spec: WebsiteSpec
    state: PlanState
    """``"to_add"``, ``"present"`` (as specified) or ``"differing"``."""
    website: Website | None = None
    """The website as it is; None when it would be added."""
    differences: tuple[Difference, ...] = ()

    @property
    def hostname(self) -> str:
        """The specification's host name."""
        return self.spec.hostname

    def row(self) -> Row:
        """This item for tables and JSON."""
        return {
            "hostname": self.hostname,
            "state": self.state,
            "timezone": self.spec.timezone,
            "public": self.spec.public,
            "label": self.spec.label,
            "differences": "; ".join(map(str, self.differences)) or None,
        }


@attrs.frozen(repr=False)
class ProvisioningPlan(Shown):
    """What ``ensure`` would do: nothing has been sent but a request for the list.

    It prints as one line for each website, and goes into JSON and frames.

    Example:
        >>> from sitestats import WebsiteSpec
        >>> specs = [WebsiteSpec("semicomplete.com"), WebsiteSpec("new.example")]
        >>> plan = client.websites.plan(specs)
        >>> [item.hostname for item in plan.to_add]
        ['new.example']
    """

    items: tuple[PlannedWebsite, ...]
    """One for each specification, in the given order."""

    @property
    def to_add(self) -> tuple[PlannedWebsite, ...]:
        """The websites that are not there: each would be added."""
        return self._in_state("to_add")

    @property
    def present(self) -> tuple[PlannedWebsite, ...]:
        """The websites that are there, as specified."""
        return self._in_state("present")

    @property
    def differing(self) -> tuple[PlannedWebsite, ...]:
        """The websites that are there and differ.

        No endpoint changes a website: this is for you to do by hand, in the
        service's dashboard.
        """
        return self._in_state("differing")

    @property
    def complete(self) -> bool:
        """Whether every website is there as specified: there is nothing to do."""
        return all(item.state == "present" for item in self.items)

    def to_dict(self) -> dict[str, Any]:
        """The plan for JSON: ``complete``, and ``items`` with one object each."""
        return {"complete": self.complete, "items": [i.row() for i in self.items]}

    def to_pandas(self) -> Any:
        """A pandas data frame with one line for each website.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return to_frame([item.row() for item in self.items], PLAN_COLUMNS)

    def _in_state(self, state: PlanState) -> tuple[PlannedWebsite, ...]:
        return tuple(item for item in self.items if item.state == state)

    def _summary(self) -> str:
        return (
            f"{counted(len(self.items))}: {len(self.to_add)} to add, "
            f"{len(self.present)} present, {len(self.differing)} differing"
        )

    def __repr__(self) -> str:
        return f"<ProvisioningPlan of {self._summary()}>"

    def _sheet(self) -> Sheet:
        from sitestats._tables import Sheet

        # A long plan is shortened: what is there as it should be comes last.
        items = sorted(self.items, key=lambda item: item.state == "present")
        rows = [
            (
                *(item.hostname, item.state.replace("_", " "), item.spec.timezone),
                *(item.spec.public, item.spec.label),
                "; ".join(map(str, item.differences)) or None,
            )
            for item in items
        ]
        note = BY_HAND if self.differing else ""
        return Sheet(self._summary(), SHOWN, rows, note)

    def __str__(self) -> str:
        lines = [self._summary()]
        width = max((len(item.hostname) for item in self.items), default=0)
        for item in self.items:
            detail = "; ".join(map(str, item.differences))
            if item.state == "to_add":
                visibility = "public" if item.spec.public else "private"
                detail = f"{item.spec.timezone}, {visibility}"
            state = item.state.replace("_", " ")
            lines.append(f"{state:9}  {item.hostname:{width}}  {detail}".rstrip())
        if self.differing:
            lines.append(BY_HAND)
        return "\n".join(lines)


SHOWN: Final = ("", "state", "time zone", "public", "label", "")
"""The headings of a plan and of a report where they are shown."""

PLAN_COLUMNS: Final = {
    "hostname": "str",
    "state": "str",
    "timezone": "str",
    "public": "bool",
    "label": "str",
    "differences": "str",
}


def counted(websites: int) -> str:
    """``"1 website"``, ``"2 websites"``."""
    return f"{websites:,} website{'' if websites == 1 else 's'}"


def plan_websites(
    specs: Iterable[WebsiteSpec], websites: Iterable[Website]
) -> ProvisioningPlan:
    """Hold *specs* against *websites*: pure, so a list read earlier will do."""
    there = by_hostname(websites)
    return ProvisioningPlan(tuple(_planned(spec, there) for spec in specs))


def _planned(spec: WebsiteSpec, there: Mapping[str, Website]) -> PlannedWebsite:
    website = there.get(spec.hostname)
    if website is None:
        return PlannedWebsite(spec, "to_add")
    differences = differences_of(spec, website)
    state: PlanState = "differing" if differences else "present"
    return PlannedWebsite(spec, state, website, differences)
