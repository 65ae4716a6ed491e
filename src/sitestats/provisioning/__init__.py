"""Declarative provisioning: plan, ensure, report.

``client.websites.plan`` and ``client.websites.ensure`` use it.
"""

from __future__ import annotations

from ._differences import Difference
from ._plan import PlannedWebsite, PlanState, ProvisioningPlan
from ._report import ProvisionedWebsite, ProvisioningReport, State
from ._specs import WebsiteSpec

__all__ = [
    "Difference",
    "PlanState",
    "PlannedWebsite",
    "ProvisionedWebsite",
    "ProvisioningPlan",
    "ProvisioningReport",
    "State",
    "WebsiteSpec",
]
