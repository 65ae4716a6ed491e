"""Declarative provisioning: plan, ensure, report; lists of websites in files.

``client.websites.plan`` and ``client.websites.ensure`` use it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

# For ``ensure``: a call imports nothing.
from . import _run as _run
from ._differences import Difference
from ._report import (
    ProvisionedWebsite,
    ProvisioningPlan,
    ProvisioningReport,
    State,
)

if TYPE_CHECKING:
    from ._lists import ListedHost, read_host_list

__all__ = [
    "Difference",
    "ListedHost",
    "ProvisionedWebsite",
    "ProvisioningPlan",
    "ProvisioningReport",
    "State",
    "read_host_list",
]


def __getattr__(name: str) -> object:
    if name not in {"ListedHost", "read_host_list"}:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Only a file needs the parsers.
    from . import _lists

    return getattr(_lists, name)
