"""Types that clients name in annotations, and import when somebody reads these.

A program that adds no websites pays for no provisioning, and a client without a
network needs no ``ssl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitestats._public import late_types

if TYPE_CHECKING:
    from ssl import SSLContext as SSLContext

    from sitestats._store.sqlite import Store as Store
    from sitestats.provisioning import (
        ProvisioningPlan as ProvisioningPlan,
        ProvisioningReport as ProvisioningReport,
    )
    from sitestats.provisioning._specs import WebsiteSpec as WebsiteSpec
else:
    __getattr__ = late_types(
        {
            "ProvisioningPlan": ("sitestats.provisioning", "ProvisioningPlan"),
            "ProvisioningReport": ("sitestats.provisioning", "ProvisioningReport"),
            "SSLContext": ("ssl", "SSLContext"),
            "Store": ("sitestats._store.sqlite", "Store"),
            "WebsiteSpec": ("sitestats.provisioning._specs", "WebsiteSpec"),
        }
    )
