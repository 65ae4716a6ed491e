"""A typed client of a web analytics service, blocking and async.

Start with ``Client`` or ``AsyncClient`` and a ``StatsQuery``.
"""

from __future__ import annotations

from ._async_client import AsyncClient
from ._client import Client
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
from ._models import AddedWebsite, Website
from ._query import Filters, StatsQuery, is_field_name
from ._retry import RetryPolicy
from ._rules import FieldName, Interval
from ._stats import Stats

__all__ = [
    "AddedWebsite",
    "AsyncClient",
    "AuthenticationError",
    "BadRequestError",
    "Client",
    "ClientClosedError",
    "ConfigurationError",
    "ConnectionFailedError",
    "FieldName",
    "FieldNotRequestedError",
    "Filters",
    "Interval",
    "InvalidInputError",
    "MissingExtraError",
    "NotFoundError",
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
    "SiteStatsError",
    "SiteStatsWarning",
    "SpecError",
    "Stats",
    "StatsQuery",
    "TransportError",
    "Website",
    "WebsiteLockedError",
    "is_field_name",
]

# Tracebacks and pickles name the errors as users do.
for _public in list(globals().values()):
    if isinstance(_public, type) and issubclass(_public, Exception | Warning):
        _public.__module__ = __name__
del _public
