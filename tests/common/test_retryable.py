"""Which calls may be repeated, by errors and retries alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats import (
    BusyError,
    ClientClosedError,
    ConfigurationError,
    ConnectionFailedError,
    QueryError,
    RateLimitedError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    ServiceError,
    SiteStatsError,
)
from sitestats._common.errors import is_temporary
from sitestats._common.hostnames import BaseAddress
from sitestats._common.settings import Settings
from sitestats._common.wire import HttpRequest, HttpResponse
from sitestats._protocol.flow import Moment, Note, Now, Send, Sleep, send_with_retries
from sitestats._protocol.responses import decode_json

GET = HttpRequest("GET", "/example.com.json")
POST = HttpRequest("POST", "/api/websites/add")

ERRORS: dict[SiteStatsError, bool] = {
    ConnectionFailedError("reset"): True,
    ConnectionFailedError("reset", request=GET): True,
    ConnectionFailedError("not trusted", request=GET, temporary=False): False,
    # A write is repeated where it was certainly not done.
    ConnectionFailedError("refused", request=POST, maybe_sent=False): True,
    RequestTimeoutError("late", request=POST): False,
    RateLimitedError("slower", status=429, request=POST): True,
    ServerError("failed", status=503, request=GET): True,
    ServerError("failed", status=503, request=POST): False,
    ServerError("odd", status=600, request=GET): False,
    BusyError("another run"): True,
    ConfigurationError("no base address"): False,
    ClientClosedError("closed"): False,
    QueryError([]): False,
    ResponseError("odd"): False,
}


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_an_error_says_whether_the_call_may_be_repeated(error: SiteStatsError) -> None:
    """``retryable`` is true where waiting helps and a repeated call does no harm."""
    assert error.retryable is ERRORS[error]


@given(st.sampled_from([GET, POST]), st.integers(300, 700), st.booleans())
def test_retries_go_by_the_same_rule(
    request: HttpRequest,
    status: int,
    maybe_sent: bool,  # noqa: FBT001 - a parameter
) -> None:
    """What a flow sends again after a failure has a retryable error, and a GET that has
    one is sent again.
    """
    response = HttpResponse(status)
    lost = ConnectionFailedError("lost", request=request, maybe_sent=maybe_sent)
    assert was_repeated(request, lost) is lost.retryable
    if status >= 400:
        with pytest.raises(ServiceError) as caught:
            decode_json(response, request)
        refused = caught.value
        is_repeated = was_repeated(request, response)
        assert is_repeated <= refused.retryable
        if request is GET:
            assert is_repeated is refused.retryable is is_temporary(status)


def was_repeated(
    request: HttpRequest, outcome: HttpResponse | ConnectionFailedError
) -> bool:
    """Whether a flow sends *request* a second time after *outcome*."""
    settings = Settings(BaseAddress.parse("https://x.example"), retry=1)
    flow = send_with_retries(request, settings)
    step, sent = next(flow), 0
    try:
        while sent < 2:
            sent += isinstance(step, Send)
            match step:
                case Send() if isinstance(outcome, HttpResponse):
                    step = flow.send(outcome)
                case Send():
                    assert isinstance(outcome, ConnectionFailedError)
                    step = flow.throw(outcome)
                case Now():
                    step = flow.send(Moment(0.0, 0.0))
                case _:
                    assert isinstance(step, (Note, Sleep))
                    step = next(flow)
    except (StopIteration, ConnectionFailedError):
        pass
    return sent == 2
