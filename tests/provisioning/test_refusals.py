"""Which failures concern the account, and which a single website."""

from __future__ import annotations

import pytest

from sitestats._errors import (
    BadRequestError,
    ConnectionFailedError,
    PermissionDeniedError,
    RateLimitedError,
    RequestTimeoutError,
    ResponseError,
    ServerError,
    ServiceError,
    WebsiteLockedError,
)
from sitestats.provisioning._refusals import (
    is_account_wide,
    is_refusal,
    message_of,
    was_not_sent,
)

OF_THE_ACCOUNT = [
    "No Api-Key found, specify via header",
    "No User-Id defined",
    "Invalid user id format, it should be a UUIDv4",
    "Your API key is not valid",
    "Unauthorized",
    "You are not authorised to do this",
    "Please log in first",
    "You need to be an owner, admin or developer of this team",
    "The role viewer can't add websites to this team",
    "You do not have the permission to add websites",
    "Forbidden",
    "You are not allowed to add websites",
    "Access denied",
    "Your plan does not allow more websites",
    "The plan's limit of 10 websites is reached",
    "Website limit reached",
    "You reached the limit of your websites",
    "You have reached the maximum number of websites",
    "Too many websites",
    "Please upgrade to add more",
    "Your subscription has ended",
    "Quota exceeded",
    "a.example: no credentials given",
    "You can't add websites, the role isn't enough",
]
OF_ONE_WEBSITE = [
    "a.example was added before",
    "The hostname is not valid",
    "This hostname is not allowed",
    "The label must be a string",
    "The label is longer than the limit of 100 characters",
    "Hostname 'a.example' is already used by somebody else",
    "A.EXAMPLE is blocked",
    "The DNS of a.example can't be read",
    "Too many requests",
    "The label 'admin' is too long",
    "A fault with status 400",
    "It broke",
]


@pytest.mark.parametrize("message", OF_THE_ACCOUNT)
def test_words_about_the_account_is_account_wide(message: str) -> None:
    """Credentials, role and plan are known by their words, whatever the status."""
    for status in (200, 400, 422, 500):
        assert is_account_wide(ServiceError(message, status=status), "a.example")


@pytest.mark.parametrize("message", OF_ONE_WEBSITE)
def test_words_about_a_website_will_not_repeat(message: str) -> None:
    """What is said of one website says nothing of the next."""
    for status in (200, 400, 404, 409, 422, 500):
        assert not is_account_wide(ServiceError(message, status=status), "a.example")


@pytest.mark.parametrize(
    "hostname",
    ["plan.example", "admin.example.com", "roles.example", "api-key.login.example"],
)
def test_the_host_name_is_no_message(hostname: str) -> None:
    """A website may be called after any of these words."""
    error = PermissionDeniedError(f"{hostname.upper()} is taken", status=400)
    assert not is_account_wide(error, hostname)
    error = PermissionDeniedError(f"{hostname}: your plan is full", status=400)
    assert is_account_wide(error, hostname)


@pytest.mark.parametrize("status", [401, 402, 403])
def test_some_statuses_need_no_words(status: int) -> None:
    """These are about the account by themselves."""
    assert is_account_wide(ServiceError("No", status=status), "a.example")


def test_a_locked_website_is_one_website() -> None:
    """The badge is missing from one website, though the plan is mentioned."""
    error = WebsiteLockedError("On the Free plan the badge must be there", status=423)
    assert not is_account_wide(error, "a.example")
    assert is_refusal(error)


def test_failures_without_an_answer_do_not_repeat() -> None:
    """They say nothing about the account."""
    for error in (ConnectionFailedError("refused"), ResponseError("odd plan")):
        assert not is_account_wide(error, "a.example")


def test_only_a_refusal_is_certain() -> None:
    """A website was certainly not added after a 4xx, 408 excepted."""
    assert is_refusal(BadRequestError("no", status=400))
    assert is_refusal(RateLimitedError("no"))
    assert is_refusal(ServiceError("no", status=200))
    assert not is_refusal(BadRequestError("late", status=408))
    assert not is_refusal(ServerError("broke", status=500))
    assert not is_refusal(RequestTimeoutError("late"))
    assert not is_refusal(ResponseError("odd"))


def test_only_what_stayed_here_never_left() -> None:
    """A transport says so itself; everything else may have arrived."""
    assert was_not_sent(ConnectionFailedError("refused", maybe_sent=False))
    assert not was_not_sent(ConnectionFailedError("reset", maybe_sent=True))
    assert not was_not_sent(ServerError("broke", status=500))


def test_the_service_is_quoted_on_one_line() -> None:
    """Its own words are message_of, without the status and the address around them."""
    assert message_of(BadRequestError("No,\n no", status=400)) == "No, no"
    assert message_of(ResponseError("odd")) == "odd"
