"""Declarative provisioning: plan, ensure, report; lists of websites in files.

``client.websites.plan`` and ``client.websites.ensure`` use it.
"""

from __future__ import annotations

# ``ensure`` needs this import here: a call imports nothing.
from . import _run as _run
from ._lists import ListedHostname, read_hostnames
from ._report import ProvisionedWebsite, ProvisioningPlan, ProvisioningReport
from ._specs import Difference

__all__ = [
    "Difference",
    "ListedHostname",
    "ProvisionedWebsite",
    "ProvisioningPlan",
    "ProvisioningReport",
    "read_hostnames",
]
