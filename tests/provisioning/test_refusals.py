"""Errors of adds: about the account, about one website, or ambiguous."""

from __future__ import annotations

import pytest

from sitestats._common.errors import (
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
)

pytestmark = pytest.mark.standard_library


ABOUT_THE_ACCOUNT = [
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
ABOUT_ONE_WEBSITE = [
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


@pytest.mark.parametrize("message", ABOUT_THE_ACCOUNT)
def test_words_about_the_account_are_account_wide(message: str) -> None:
    """A message about credentials, role or plan counts, whatever the status."""
    for status in (200, 400, 422, 500):
        assert is_account_wide(ServiceError(message, status=status), "a.example")


@pytest.mark.parametrize("message", ABOUT_ONE_WEBSITE)
def test_words_about_a_website_are_not_account_wide(message: str) -> None:
    """A message about one website does not stop the others."""
    for status in (200, 400, 404, 409, 422, 500):
        assert not is_account_wide(ServiceError(message, status=status), "a.example")


@pytest.mark.parametrize(
    "hostname",
    ["plan.example", "admin.example.com", "roles.example", "api-key.login.example"],
)
def test_words_in_the_host_name_do_not_count(hostname: str) -> None:
    """A website whose name has the word plan or admin does not stop the others."""
    error = PermissionDeniedError(f"{hostname.upper()} is taken", status=400)
    assert not is_account_wide(error, hostname)
    error = PermissionDeniedError(f"{hostname}: your plan is full", status=400)
    assert is_account_wide(error, hostname)


@pytest.mark.parametrize("status", [401, 402, 403])
def test_some_statuses_need_no_words(status: int) -> None:
    """401, 402 and 403 are about the account, whatever the message."""
    assert is_account_wide(ServiceError("No", status=status), "a.example")


def test_a_locked_website_is_one_website() -> None:
    """A locked website does not stop the others, though its message has a plan."""
    error = WebsiteLockedError("On the Free plan the badge must be there", status=423)
    assert not is_account_wide(error, "a.example")
    assert is_refusal(error)


def test_failures_without_a_response_are_not_account_wide() -> None:
    """A failed connection or an invalid response does not stop the others."""
    for error in (ConnectionFailedError("refused"), ResponseError("odd plan")):
        assert not is_account_wide(error, "a.example")


def test_only_a_refusal_is_certain() -> None:
    """Only an error response below 500, except 408, means that nothing was added."""
    assert is_refusal(BadRequestError("no", status=400))
    assert is_refusal(RateLimitedError("no", status=429))
    assert is_refusal(ServiceError("no", status=200))
    assert is_refusal(ServiceError("no", status=499))
    assert not is_refusal(BadRequestError("late", status=408))
    assert not is_refusal(ServerError("broke", status=500))
    assert not is_refusal(RequestTimeoutError("late"))
    assert not is_refusal(ResponseError("odd"))


def test_the_message_is_on_one_line() -> None:
    """The service's message is reported on one line, without status and address."""
    assert message_of(BadRequestError("No,\n no", status=400)) == "No, no"
    assert message_of(ResponseError("odd")) == "odd"
