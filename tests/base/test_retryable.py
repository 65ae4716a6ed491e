"""Which calls may be repeated."""

from __future__ import annotations

import pytest

from sitestats import (
    BusyError,
    ClientClosedError,
    ConfigurationError,
    ConnectionFailedError,
    InvalidInputError,
    InvalidResponseError,
    RateLimitedError,
    RequestTimeoutError,
    ServerError,
    SiteStatsError,
)
from sitestats.types import HttpRequest

GET = HttpRequest("GET", "/example.com.json")
POST = HttpRequest("POST", "/api/websites/add")

ERRORS: dict[SiteStatsError, bool] = {
    ConnectionFailedError("reset"): True,
    ConnectionFailedError("reset", request=GET): True,
    ConnectionFailedError("not trusted", request=GET, temporary=False): False,
    # A write is repeated where it was certainly not done.
    ConnectionFailedError("refused", request=POST, maybe_sent=False): True,
    RequestTimeoutError("late", request=POST): False,
    RateLimitedError("slower", status_code=429, request=POST): True,
    ServerError("failed", status_code=503, request=GET): True,
    ServerError("failed", status_code=503, request=POST): False,
    ServerError("odd", status_code=600, request=GET): False,
    BusyError("another run"): True,
    ConfigurationError("no base address"): False,
    ClientClosedError("closed"): False,
    InvalidInputError([]): False,
    InvalidResponseError("odd"): False,
}


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_says_whether_the_call_may_be_repeated(error: SiteStatsError) -> None:
    """``retryable`` is true where waiting helps and a repeated call does no harm."""
    assert error.retryable is ERRORS[error]
