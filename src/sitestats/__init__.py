"""A typed client of a web analytics service, sync and async.

Start with ``Client`` or ``AsyncClient`` and a ``StatsQuery``.
"""

from __future__ import annotations

from ._client.async_client import AsyncClient
from ._client.client import Client
from ._client.get_many import AsyncOutcomes, Outcomes
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
from ._common.fields import FieldName, is_field_name
from ._common.settings import RetryPolicy
from ._query.builder import StatsQuery
from ._query.rules import Filters, Interval
from ._results.entries import Entries, EventCount, ListEntry, PageEntry
from ._results.histogram import HistogramEntry
from ._results.outcomes import Answered, Failed, Outcome
from ._results.stats import Stats
from ._results.websites import AddedWebsite, Website
from .provisioning import (
    Difference,
    PlannedWebsite,
    ProvisionedWebsite,
    ProvisioningPlan,
    ProvisioningReport,
    WebsiteSpec,
)

__all__ = [
    "AddedWebsite",
    "Answered",
    "AsyncClient",
    "AsyncOutcomes",
    "AuthenticationError",
    "BadRequestError",
    "BusyError",
    "Client",
    "ClientClosedError",
    "ConfigurationError",
    "ConnectionFailedError",
    "Difference",
    "Entries",
    "EventCount",
    "Failed",
    "FieldName",
    "FieldNotRequestedError",
    "Filters",
    "HistogramEntry",
    "Interval",
    "InvalidInputError",
    "ListEntry",
    "MissingExtraError",
    "NotFoundError",
    "Outcome",
    "Outcomes",
    "PageEntry",
    "PermissionDeniedError",
    "PlannedWebsite",
    "Problem",
    "ProvisionedWebsite",
    "ProvisioningPlan",
    "ProvisioningReport",
    "QueryError",
    "RateLimitedError",
    "ReadOnlyError",
    "RequestTimeoutError",
    "ResponseError",
    "ResponseTooLargeError",
    "RetryPolicy",
    "ServerError",
    "ServiceError",
    "SiteStatsError",
    "SiteStatsWarning",
    "SpecError",
    "Stats",
    "StatsQuery",
    "TransportError",
    "Website",
    "WebsiteLockedError",
    "WebsiteSpec",
    "is_field_name",
]


def _name_errors_as_users_do() -> None:
    # In tracebacks and pickles: sitestats.QueryError, wherever it is defined.
    for public in map(globals().get, __all__):
        if isinstance(public, type) and issubclass(public, Exception):
            public.__module__ = __name__


_name_errors_as_users_do()
