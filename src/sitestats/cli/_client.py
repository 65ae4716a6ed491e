"""Options that configure the client: address, account, timeouts, retries.

A credential is never an argument: arguments show in the list of processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from ._completion import one_of

if TYPE_CHECKING:
    from sitestats import Client
    from sitestats._common.profiles import Profile
    from sitestats._common.secret import Secret

F = TypeVar("F", bound=Callable[..., Any])


def _profile_names() -> list[str]:
    from sitestats._common.profiles import profile_names

    return profile_names()


_OPTIONS = (
    click.option(
        "--base-url",
        metavar="URL",
        help="The service's address; SITESTATS_BASE_URL when left out. The "
        "credentials of the environment, or of the profile, are sent there.",
    ),
    click.option(
        "--profile",
        metavar="NAME",
        shell_complete=one_of(_profile_names),
        help="The account, by its name in the file of profiles; SITESTATS_PROFILE "
        "when left out.",
    ),
    click.option(
        "--key-file",
        metavar="FILE",
        help="A file that holds the API key; SITESTATS_API_KEY_FILE when left out.",
    ),
    click.option(
        "--timeout",
        type=float,
        metavar="SECONDS",
        help="For connecting and for each read; 30 when left out.",
    ),
    click.option(
        "--total-timeout",
        type=float,
        metavar="SECONDS",
        help="For one request with its retries; 120 when left out.",
    ),
    click.option(
        "--retries",
        type=int,
        metavar="N",
        help="How often a request is retried; 2 when left out.",
    ),
)
NAMES = ("base_url", "profile", "key_file", "timeout", "total_timeout", "retries")


def client_options(command: F) -> F:
    """Give *command* the options that ``make_client`` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def make_client(
    options: dict[str, Any], *, read_only: bool = True, admin: bool = False
) -> Client:
    """Make a client; its options are removed from *options*.

    With *admin* the credentials that the Admin API needs must be set. A client that is
    not *read_only* must be allowed to write.
    """
    from sitestats import Client
    from sitestats._common.settings import NOT_GIVEN, credential_of_environment

    base_address(options)
    profile = _profile(options)
    if not read_only:
        _check_writable(profile)
    given = {name: options.pop(name) for name in (*NAMES, "store") if name in options}
    base_url, _, key_file = (given.pop(name) for name in NAMES[:3])
    if profile is None:
        base_url = base_url or NOT_GIVEN
        user = credential_of_environment("user_id")
    else:
        base_url = base_url or profile.base_url
        user = profile.user_id
    key = _key(key_file, profile)
    if admin:
        _check_credentials(key, user, profile)
    return Client(
        base_url,
        # A Secret each, which the constructor takes as well.
        api_key=cast("str | None", key),
        user_id=cast("str | None", user),
        read_only=read_only,
        **{name: value for name, value in given.items() if value is not None},
    )


def base_address(options: Mapping[str, Any]) -> str:
    """The service's address, from the options, the profile or the environment."""
    from sitestats._common.settings import BASE_URL_VARIABLE

    if options["base_url"]:
        return cast("str", options["base_url"])
    profile = _profile(options)
    if profile is not None:
        return profile.base_url
    address = os.environ.get(BASE_URL_VARIABLE)
    if not address:
        raise click.UsageError(
            f"there is no base address: give --base-url, or set {BASE_URL_VARIABLE}"
        )
    return address


def _profile(options: Mapping[str, Any]) -> Profile | None:
    """The profile that is chosen; None where the environment has the account."""
    from sitestats._common.settings import ACCOUNT_VARIABLES, PROFILE_VARIABLE

    name: str | None = options["profile"]
    if name is None:
        name = os.environ.get(PROFILE_VARIABLE)
        others = [
            variable
            for variable in ACCOUNT_VARIABLES
            if name and os.environ.get(variable)
        ]
        if others:
            raise click.UsageError(
                f"{PROFILE_VARIABLE} is set, and so is {' and '.join(others)}, perhaps "
                "of another account: unset the one or the other, or choose by --profile"
            )
    if not name:
        return None
    from sitestats._common.profiles import load_profile

    return load_profile(name)


def _key(key_file: str | None, profile: Profile | None) -> Secret | None:
    if key_file is not None:
        from sitestats._common.key_file import read_key_file

        return read_key_file(key_file, "--key-file")
    if profile is not None:
        return profile.api_key()
    from sitestats._common.settings import credential_of_environment

    return credential_of_environment("api_key")


def _check_writable(profile: Profile | None) -> None:
    from sitestats import ReadOnlyError
    from sitestats._common.settings import READ_ONLY_VARIABLE, read_only_by_environment

    source = READ_ONLY_VARIABLE if read_only_by_environment() else ""
    if profile is not None and profile.read_only:
        source = source or str(profile)
    if source:
        raise ReadOnlyError(f"{source} allows to read only: nothing was requested")


def _check_credentials(
    key: Secret | None, user: Secret | None, profile: Profile | None
) -> None:
    from sitestats._common.settings import API_KEY_VARIABLE, USER_ID_VARIABLE

    missing = [
        (noun, variable, setting)
        for secret, noun, variable, setting in (
            (key, "an API key", API_KEY_VARIABLE, "key_file or key_command"),
            (user, "a user ID", USER_ID_VARIABLE, "user_id"),
        )
        if secret is None
    ]
    if missing:
        nouns, variables, settings = zip(*missing, strict=True)
        advice = f"set {' and '.join(variables)}"
        if profile is not None:
            advice = f"{profile} has no {' and no '.join(settings)}"
        raise click.UsageError(f"this command needs {' and '.join(nouns)}: {advice}")
