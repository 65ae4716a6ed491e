"""Types that clients name in annotations, and import when somebody reads these.

A program pays for no stream of outcomes, provisioning, comparison or check of a set-up
that it does not make, and a client without a network needs no ``ssl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitestats._public import late_types

if TYPE_CHECKING:
    from ssl import SSLContext as SSLContext

    from sitestats._client.get_many import (
        AsyncOutcomeStream as AsyncOutcomeStream,
        OutcomeStream as OutcomeStream,
    )
    from sitestats._comparison.comparison import Comparison as Comparison
    from sitestats._comparison.comparisons import Comparisons as Comparisons
    from sitestats._protocol.check_setup import SetupReport as SetupReport
    from sitestats._store.sqlite import Store as Store
    from sitestats.provisioning import (
        ProvisioningPlan as ProvisioningPlan,
        ProvisioningReport as ProvisioningReport,
    )
    from sitestats.provisioning._specs import WebsiteSpec as WebsiteSpec
else:
    __getattr__ = late_types(
        {
            "ssl": ("SSLContext",),
            "sitestats._client.get_many": ("AsyncOutcomeStream", "OutcomeStream"),
            "sitestats._comparison.comparison": ("Comparison",),
            "sitestats._comparison.comparisons": ("Comparisons",),
            "sitestats._protocol.check_setup": ("SetupReport",),
            "sitestats._store.sqlite": ("Store",),
            "sitestats.provisioning": ("ProvisioningPlan", "ProvisioningReport"),
            "sitestats.provisioning._specs": ("WebsiteSpec",),
        }
    )
