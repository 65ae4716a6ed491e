"""A typed client of a web analytics service, sync and async.

Start with ``Client`` or ``AsyncClient`` and a ``StatsQuery``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from . import provisioning as provisioning
    from ._client.async_client import AsyncClient
    from ._client.client import Client
    from ._common.errors import (
        AuthenticationError,
        BadRequestError,
        BusyError,
        ClientClosedError,
        ConfigurationError,
        ConnectionFailedError,
        FieldNotRequestedError,
        InvalidInputError,
        MissingExtraError,
        NotFoundError,
        PermissionDeniedError,
        Problem,
        QueryError,
        RateLimitedError,
        ReadOnlyError,
        RequestTimeoutError,
        ResponseError,
        ResponseTooLargeError,
        ServerError,
        ServiceError,
        SiteStatsError,
        SiteStatsWarning,
        SpecError,
        TransportError,
        WebsiteLockedError,
    )
    from ._common.fields import FieldName
    from ._common.profiles import profile_names
    from ._common.settings import KeyValueStore, RetryPolicy
    from ._protocol.check_setup import SetupReport
    from ._query.builder import StatsQuery
    from ._query.rules import Filters, Interval
    from ._results.entries import (
        Entries,
        EventCount,
        HistogramEntry,
        ListEntry,
        PageEntry,
    )
    from ._results.outcomes import (
        AsyncOutcomes,
        Failed,
        Outcome,
        Outcomes,
        Succeeded,
    )
    from ._results.stats import Stats
    from ._results.websites import AddedWebsite, Website, WebsiteList
    from ._store.sqlite import Store
    from .provisioning._specs import WebsiteSpec

__all__ = [
    "AddedWebsite",
    "AsyncClient",
    "AsyncOutcomes",
    "AuthenticationError",
    "BadRequestError",
    "BusyError",
    "Client",
    "ClientClosedError",
    "ConfigurationError",
    "ConnectionFailedError",
    "Entries",
    "EventCount",
    "Failed",
    "FieldName",
    "FieldNotRequestedError",
    "Filters",
    "HistogramEntry",
    "Interval",
    "InvalidInputError",
    "KeyValueStore",
    "ListEntry",
    "MissingExtraError",
    "NotFoundError",
    "Outcome",
    "Outcomes",
    "PageEntry",
    "PermissionDeniedError",
    "Problem",
    "QueryError",
    "RateLimitedError",
    "ReadOnlyError",
    "RequestTimeoutError",
    "ResponseError",
    "ResponseTooLargeError",
    "RetryPolicy",
    "ServerError",
    "ServiceError",
    "SetupReport",
    "SiteStatsError",
    "SiteStatsWarning",
    "SpecError",
    "Stats",
    "StatsQuery",
    "Store",
    "Succeeded",
    "TransportError",
    "Website",
    "WebsiteList",
    "WebsiteLockedError",
    "WebsiteSpec",
    "profile_names",
]

_ERRORS: Final = "_common.errors"
_NAMES: Final = {
    "_client.async_client": ("AsyncClient",),
    "_client.client": ("Client",),
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
        "AsyncOutcomes",
        "Failed",
        "Outcome",
        "Outcomes",
        "Succeeded",
    ),
    "_results.stats": ("Stats",),
    "_results.websites": ("AddedWebsite", "Website", "WebsiteList"),
    "_store.sqlite": ("Store",),
    "provisioning._specs": ("WebsiteSpec",),
}
"""Where each name is defined, if not among the errors. It is imported when it is first
used, so a program pays for what it needs."""
_MODULES: Final = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "provisioning":
        return import_module(f"{__name__}.provisioning")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"{__name__}.{_MODULES.get(name, _ERRORS)}")
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
