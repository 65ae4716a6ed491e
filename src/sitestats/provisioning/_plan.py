"""Plan: which websites ``ensure`` would add, and which exist or differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

import attrs

from sitestats._common.text import counted
from sitestats._results.websites import Website

from ._differences import by_hostname, differences_of
from ._items import Item, Items
from ._specs import WebsiteSpec

PlanState: TypeAlias = Literal["to_add", "present", "differing"]


@attrs.frozen
class PlannedWebsite(Item[PlanState, Website]):
    """One website of a plan.

    ``state`` is one of:

    * ``"to_add"``: it does not exist, and would be added;
    * ``"present"``: it exists, as specified;
    * ``"differing"``: it exists, and differs.
    """


@attrs.frozen(repr=False)
class ProvisioningPlan(Items[PlannedWebsite]):
    """What ``ensure`` would do: nothing was sent but a request for the list.

    It prints as one line for each website, and goes into JSON and frames.

    Example:
        >>> from sitestats import WebsiteSpec
        >>> specs = [WebsiteSpec("semicomplete.com"), WebsiteSpec("new.example")]
        >>> plan = client.websites.plan(specs)
        >>> [item.hostname for item in plan.to_add]
        ['new.example']
    """

    @property
    def to_add(self) -> tuple[PlannedWebsite, ...]:
        """The websites that do not exist: each would be added."""
        return self._in_state("to_add")

    def summary(self) -> str:
        """How many websites there are of each state, as one line."""
        counts = self._counts(("to_add", "present", "differing"))
        return f"{counted(len(self.items), 'website')}: {counts}"

    def _line_detail(self, item: PlannedWebsite) -> str:
        if item.state == "to_add":
            visibility = "public" if item.wanted.public else "private"
            return f"{item.wanted.timezone}, {visibility}"
        return item.detail()


def plan_websites(
    specs: Iterable[WebsiteSpec], websites: Iterable[Website]
) -> ProvisioningPlan:
    """Compare *specs* with *websites*, the service's list."""
    existing = by_hostname(websites)
    return ProvisioningPlan(tuple(_plan_website(spec, existing) for spec in specs))


def _plan_website(spec: WebsiteSpec, existing: Mapping[str, Website]) -> PlannedWebsite:
    website = existing.get(spec.hostname)
    if website is None:
        return PlannedWebsite(spec, "to_add")
    differences = differences_of(spec, website)
    state: PlanState = "differing" if differences else "present"
    return PlannedWebsite(spec, state, website, differences)
