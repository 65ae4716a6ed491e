"""The public names: those that are imported late, and those that pickles have.

``sitestats`` imports a name when it is first used, so a program pays for what it needs.
Pickles and tracebacks have the public module of a class, so files can be moved.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NoReturn

PUBLIC: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "sitestats": {
        "_client.async_client": ("AsyncClient",),
        "_client.client": ("Client",),
        "_base.errors": (
            *("AuthenticationError", "BadRequestError", "BusyError"),
            *("ClientClosedError", "ConfigurationError", "ConnectionFailedError"),
            *("FieldNotRequestedError", "InvalidInputError", "InvalidResponseError"),
            *("MissingExtraError", "NotFoundError", "PermissionDeniedError", "Problem"),
            *("RateLimitedError", "ReadOnlyError", "RequestTimeoutError"),
            *("ResponseTooLargeError", "ServerError", "SiteStatsError"),
            *("SiteStatsWarning", "StatusError", "TransportError", "UsageError"),
            "WebsiteLockedError",
        ),
        "_base.fields": ("FieldName",),
        "_configuration.profiles": ("profile_names",),
        "_configuration.settings": ("KeyValueStore", "RetryPolicy"),
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
    "sitestats.emulator": {
        "emulator._emulator": ("Emulator",),
        "emulator._http": ("RecordedRequest",),
        "emulator._loading": ("Loaded",),
    },
}
"""The names of each module that imports a name when it is first used, by the module
that defines it."""
_CLASSES: Final = {
    "sitestats": (name for names in PUBLIC["sitestats"].values() for name in names),
    "sitestats.types": (
        *("AsyncOutcomeStream", "AsyncStatsAPI", "AsyncWebsitesAPI", "Change"),
        *("Changes", "ComparedPair", "Comparison", "Comparisons", "Credentials"),
        *("EntryChange", "Headers", "HourEntry", "HttpRequest", "Kind", "NamedPeriod"),
        *("NotGiven", "OutcomeStream", "SetupRow", "StatsAPI", "StoreStats", "Table"),
        *("TimedListEntry", "TimedPageEntry", "WebsitesAPI", "WeekEntry"),
    ),
    "sitestats.provisioning": (
        *("Difference", "ProvisionedWebsite", "ProvisioningPlan"),
        "ProvisioningReport",
    ),
}
"""The names of what pickles have, by the module that they name."""
_MODULES: Final = {n: module for module, names in _CLASSES.items() for n in names}


class Public:
    """A class whose pickles have the name of a public module."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A user's own class may have the same name.
        if cls.__module__.startswith("sitestats."):
            cls.__module__ = _MODULES.get(cls.__name__, cls.__module__)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if hasattr(kind := type(self), name):
                # Its own error, such as that of a field that was not requested.
                object.__getattribute__(self, name)
            raise AttributeError(
                f"{kind.__name__} has no {name!r}: it has {names_of(kind)}",
                name=name,
                obj=self,
            )


@cache
def names_of(kind: type) -> str:
    """The public names of a class, for an error about another name."""
    return ", ".join(
        f".{name}()" if callable(getattr(kind, name)) else f".{name}"
        for name in dir(kind)
        if not name.startswith("_")
    )


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
