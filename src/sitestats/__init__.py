"""A typed client of a web analytics service, sync and async.

Start with ``Client`` or ``AsyncClient`` and a ``StatsQuery``. A name is imported when
it is first used, so a program pays for what it needs. Type checkers read the imports,
and the table below them is the same for Python.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._public import lazy
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from . import provisioning as provisioning, types as types
    from ._client.async_client import AsyncClient as AsyncClient
    from ._client.client import Client as Client
    from ._base.errors import (
        AuthenticationError as AuthenticationError,
        BadRequestError as BadRequestError,
        BusyError as BusyError,
        ClientClosedError as ClientClosedError,
        ConfigurationError as ConfigurationError,
        ConnectionFailedError as ConnectionFailedError,
        FieldNotRequestedError as FieldNotRequestedError,
        InvalidInputError as InvalidInputError,
        InvalidResponseError as InvalidResponseError,
        MissingExtraError as MissingExtraError,
        NotFoundError as NotFoundError,
        NotTheServiceError as NotTheServiceError,
        PermissionDeniedError as PermissionDeniedError,
        Problem as Problem,
        RateLimitedError as RateLimitedError,
        ReadOnlyError as ReadOnlyError,
        RequestTimeoutError as RequestTimeoutError,
        ResponseTooLargeError as ResponseTooLargeError,
        ServerError as ServerError,
        SiteStatsError as SiteStatsError,
        SiteStatsWarning as SiteStatsWarning,
        StatusError as StatusError,
        TransportError as TransportError,
        UnexpectedError as UnexpectedError,
        UnrequestedAttributeError as UnrequestedAttributeError,
        UsageError as UsageError,
        WebsiteLockedError as WebsiteLockedError,
    )
    from ._base.fields import FieldName as FieldName
    from ._configuration.profiles import profile_names as profile_names
    from ._configuration.settings import (
        KeyValueStore as KeyValueStore,
        RetryPolicy as RetryPolicy,
    )
    from ._protocol.check_setup import SetupReport as SetupReport
    from ._reading.converting import make_converter as make_converter
    from ._query.builder import StatsQuery as StatsQuery
    from ._query.parameters import Filters as Filters
    from ._query.rules import Interval as Interval
    from ._results.entries import (
        Entries as Entries,
        EventCount as EventCount,
        HistogramEntry as HistogramEntry,
        ListEntry as ListEntry,
        PageEntry as PageEntry,
    )
    from ._results.outcomes import (
        AsyncOutcomes as AsyncOutcomes,
        Failed as Failed,
        Outcome as Outcome,
        Outcomes as Outcomes,
        Succeeded as Succeeded,
    )
    from ._results.stats import Stats as Stats
    from ._results.websites import (
        AddedWebsite as AddedWebsite,
        Website as Website,
        WebsiteList as WebsiteList,
    )
    from ._store.sqlite import Store as Store
    from .provisioning._specs import WebsiteSpec as WebsiteSpec
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            "sitestats.provisioning": ("provisioning",),
            "sitestats.types": ("types",),
            "sitestats._client.async_client": ("AsyncClient",),
            "sitestats._client.client": ("Client",),
            "sitestats._base.errors": (
                "AuthenticationError",
                "BadRequestError",
                "BusyError",
                "ClientClosedError",
                "ConfigurationError",
                "ConnectionFailedError",
                "FieldNotRequestedError",
                "InvalidInputError",
                "InvalidResponseError",
                "MissingExtraError",
                "NotFoundError",
                "NotTheServiceError",
                "PermissionDeniedError",
                "Problem",
                "RateLimitedError",
                "ReadOnlyError",
                "RequestTimeoutError",
                "ResponseTooLargeError",
                "ServerError",
                "SiteStatsError",
                "SiteStatsWarning",
                "StatusError",
                "TransportError",
                "UnexpectedError",
                "UnrequestedAttributeError",
                "UsageError",
                "WebsiteLockedError",
            ),
            "sitestats._base.fields": ("FieldName",),
            "sitestats._configuration.profiles": ("profile_names",),
            "sitestats._configuration.settings": (
                "KeyValueStore",
                "RetryPolicy",
            ),
            "sitestats._protocol.check_setup": ("SetupReport",),
            "sitestats._query.builder": ("StatsQuery",),
            "sitestats._query.parameters": ("Filters",),
            "sitestats._reading.converting": ("make_converter",),
            "sitestats._query.rules": ("Interval",),
            "sitestats._results.entries": (
                "Entries",
                "EventCount",
                "HistogramEntry",
                "ListEntry",
                "PageEntry",
            ),
            "sitestats._results.outcomes": (
                "AsyncOutcomes",
                "Failed",
                "Outcome",
                "Outcomes",
                "Succeeded",
            ),
            "sitestats._results.stats": ("Stats",),
            "sitestats._results.websites": (
                "AddedWebsite",
                "Website",
                "WebsiteList",
            ),
            "sitestats._store.sqlite": ("Store",),
            "sitestats.provisioning._specs": ("WebsiteSpec",),
        },
    )
