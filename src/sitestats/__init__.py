"""A typed client of a web analytics service, blocking and async.

Start with ``Client`` or ``AsyncClient`` and a ``StatsQuery``.
"""

from __future__ import annotations

from ._async_client import AsyncClient
from ._client import Client
from ._entries import Entries, EventCount, ListEntry, PageEntry
from ._errors import (
    AuthenticationError,
    BadRequestError,
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
from ._fanout import AsyncOutcomes, Outcomes
from ._fields import FieldName, is_field_name
from ._filters import Filters
from ._histogram import HistogramEntry
from ._models import AddedWebsite, Website
from ._outcomes import Answered, Failed, Outcome
from ._query import StatsQuery
from ._rules import Interval
from ._settings import RetryPolicy
from ._stats import Stats
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
