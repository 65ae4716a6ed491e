"""The public modules: where each of their names is defined.

A name is imported when it is first used, so a program pays for what it needs. Pickles
and tracebacks have the public module of a class, so files can be moved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

PUBLIC: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "sitestats": {
        "_client.async_client": ("AsyncClient",),
        "_client.client": ("Client",),
        "_common.errors": (
            *("AuthenticationError", "BadRequestError", "BusyError"),
            *("ClientClosedError", "ConfigurationError", "ConnectionFailedError"),
            *("FieldNotRequestedError", "InvalidInputError", "InvalidResponseError"),
            *("MissingExtraError", "NotFoundError", "PermissionDeniedError", "Problem"),
            *("RateLimitedError", "ReadOnlyError", "RequestTimeoutError"),
            *("ResponseTooLargeError", "ServerError", "SiteStatsError"),
            *("SiteStatsWarning", "StatusError", "TransportError"),
            "WebsiteLockedError",
        ),
        "_common.fields": ("FieldName",),
        "_common.profiles": ("profile_names",),
        "_common.settings": ("KeyValueStore", "RetryPolicy"),
        "_protocol.check_setup": ("SetupReport",),
        "_query.builder": ("StatsQuery",),
        "_query.rules": ("Filters", "Interval"),
        "_results.entries": (
            *("Entries", "EventCount", "HistogramEntry", "ListEntry", "PageEntry"),
        ),
        "_results.outcomes": (
            *("AsyncOutcomes", "Failed", "Outcome", "Outcomes", "Succeeded"),
        ),
        "_results.stats": ("Stats",),
        "_results.websites": ("AddedWebsite", "Website", "WebsiteList"),
        "_store.sqlite": ("Store",),
        "provisioning": ("provisioning",),
        "provisioning._specs": ("WebsiteSpec",),
        "types": ("types",),
    },
    "sitestats.types": {
        "_client.async_client": ("AsyncStatsAPI", "AsyncWebsitesAPI"),
        "_client.base": ("Options",),
        "_client.client": ("StatsAPI", "WebsitesAPI"),
        "_client.get_many": ("AsyncOutcomeStream", "OutcomeStream"),
        "_common.fields": ("CountName", "ListName", "TableName", "TotalName"),
        "_common.progress": ("Progress",),
        "_common.settings": ("NotGiven",),
        "_common.wire": ("Credentials", "Headers", "HttpRequest", "JsonValue"),
        "_protocol.check_setup": ("SetupRow",),
        "_query.builder": ("Against",),
        "_query.periods": ("Day", "PreviousUnit", "Span", "Unit", "NamedPeriod"),
        "_query.rules": ("HasHostname", "MetadataValue"),
        "_results.comparison": (
            *("Change", "Changes", "Comparison", "Comparisons", "Direction"),
            *("EntryChange", "ComparedPair"),
        ),
        "_results.bases": ("Table",),
        "_results.entries": (
            *("HourEntry", "TimedListEntry", "TimedPageEntry", "WeekEntry"),
        ),
        "_results.tables": ("Column", "Kind"),
        "_store.sqlite": ("StoreStats",),
    },
    "sitestats.emulator": {
        "emulator._emulator": ("Emulator",),
        "emulator._http": ("RecordedRequest",),
    },
    "sitestats.provisioning": {
        "provisioning._lists": ("ListedHost", "read_host_list"),
        "provisioning._report": (
            *("ProvisionedWebsite", "ProvisioningPlan", "ProvisioningReport"),
        ),
        "provisioning._specs": ("Difference",),
    },
}
"""The names of each public module, by the module that defines them. Type checkers do
not see those that only pickles have."""
_PUBLIC_MODULES: Final = {
    f"sitestats.{where}.{name}": public
    for public, modules in PUBLIC.items()
    for where, names in modules.items()
    for name in names
}


class Public:
    """A class whose pickles have the name of a public module."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        place = f"{cls.__module__}.{cls.__name__}"
        cls.__module__ = _PUBLIC_MODULES.get(place, cls.__module__)


def lazy(
    public: str,
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a *public* module."""
    places = {name: where for where, names in PUBLIC[public].items() for name in names}
    known = vars(sys.modules[public])

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {public!r} has no attribute {name!r}")
        module = import_module(f"sitestats.{places[name]}")
        value = known[name] = getattr(module, name, module)
        return value

    return sorted(places), get, lambda: sorted({*known, *places})
