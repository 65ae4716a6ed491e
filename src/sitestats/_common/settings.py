"""Client settings: arguments, environment variables, retries, proxies."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeGuard, cast

import attrs

from .errors import ConfigurationError
from .hostnames import BaseAddress
from .pauses import Pauses
from .secret import (
    Secret,
    as_secret,
    checked_headers,
    checked_secret,
    read_key_file,
)
from .wire import Credentials

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping

    from .keyvalue import KeyValueStore

BASE_URL_VARIABLE: Final = "SITESTATS_BASE_URL"
API_KEY_VARIABLE: Final = "SITESTATS_API_KEY"
USER_ID_VARIABLE: Final = "SITESTATS_USER_ID"
READ_ONLY_VARIABLE: Final = "SITESTATS_READ_ONLY"
PROFILE_VARIABLE: Final = "SITESTATS_PROFILE"
_VARIABLES: Final = {"api_key": API_KEY_VARIABLE, "user_id": USER_ID_VARIABLE}
ACCOUNT_VARIABLES: Final = (
    BASE_URL_VARIABLE,
    *(name + end for name in _VARIABLES.values() for end in ("", "_FILE")),
)
"""The variables that name an account, where no profile does."""
_NO: Final = frozenset(("", "0", "false", "no", "off"))
"""The values of a variable that mean no, in any case."""


class _NotGiven(Enum):
    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return "<not given>"


NOT_GIVEN: Final = _NotGiven.NOT_GIVEN
"""An argument that is not given comes from the environment; None means without."""
NotGiven: TypeAlias = Literal[_NotGiven.NOT_GIVEN]


# --- checks -----------------------------------------------------------------------


def _refusal(name: str, wanted: str, value: object) -> ConfigurationError:
    # A text may be a key, in the wrong place.
    given = repr(value) if _is_number(value) else f"a {type(value).__name__}"
    return ConfigurationError(f"{name} is {wanted}; got {given}")


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_seconds(name: str, value: object, *, or_none: bool = False) -> float:
    """*value* as a finite number of seconds above 0, or a ConfigurationError."""
    if _is_number(value) and 0 <= value < float("inf") and (value or or_none):
        return float(value)
    wanted = "a number of seconds above 0, since there is always a limit"
    raise _refusal(name, "a number of seconds" if or_none else wanted, value)


def positive_count(name: str, value: object, least: int = 1) -> int:
    """*value* as a whole number from *least* on, or a ConfigurationError."""
    if isinstance(value, int) and value is not True and value >= least:
        return value
    raise _refusal(name, f"a whole number, {least} or more", value)


def _check_flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise _refusal(name, "True or False", value)


def _revealed(given: Any) -> str | None:
    return None if given is None else as_secret(given).reveal()


def _by(
    check: Callable[..., object], **options: Any
) -> Callable[[object, attrs.Attribute[Any], object], None]:
    """A validator of attrs that checks a value by its name."""

    def validate(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
        check(attribute.name, value, **options)

    return validate


def checked_verify(given: Any) -> bool | str | ssl.SSLContext:
    """*given* as certificates to verify a server by: a path as a text.

    Raises:
        ConfigurationError: It is none of these. A wrong value must not trust everybody.
    """
    # A context by what it does: another class may have taken the place of ssl's.
    if isinstance(given, bool) or callable(getattr(given, "wrap_bio", None)):
        return cast("bool | ssl.SSLContext", given)
    if isinstance(given, (str, os.PathLike)) and (path := str(cast("Any", given))):
        return path
    wanted = "True, False, the path of certificates, or an ssl.SSLContext"
    raise _refusal("verify", wanted, cast("Any", given))


# --- settings ---------------------------------------------------------------------


_PAUSE: Final = _by(check_seconds, or_none=True)


@attrs.frozen
class RetryPolicy:
    """How often a request is retried, and how long the pauses are.

    The pause before the n-th retry is drawn between half of and the whole of
    ``wait_initial * 2 ** (n - 1)`` seconds, which never grows above
    ``wait_max``. A longer ``Retry-After`` is honoured in full.

    Example:
        >>> RetryPolicy(retries=5, wait_max=30.0)
        RetryPolicy(retries=5, wait_initial=0.5, wait_max=30.0)
    """

    retries: int = attrs.field(default=2, validator=_by(positive_count, least=0))
    wait_initial: float = attrs.field(default=0.5, validator=_PAUSE)
    wait_max: float = attrs.field(default=8.0, validator=_PAUSE)

    def longest_wait(self, retry: int) -> float:
        """The most seconds to wait before the *retry*-th retry, from 1."""
        # The exponent is bounded, since 2.0 ** 1024 is an OverflowError.
        return min(self.wait_max, self.wait_initial * 2.0 ** min(retry - 1, 64))

    def wait(self, retry: int) -> float:
        """Seconds to wait before the *retry*-th retry, drawn with jitter."""
        longest = self.longest_wait(retry)
        return random.uniform(longest / 2, longest)  # noqa: S311  no secret


def as_policy(retries: int | RetryPolicy) -> RetryPolicy:
    """The policy for *retries*: a number of retries, or a policy itself."""
    return retries if isinstance(retries, RetryPolicy) else RetryPolicy(retries)


@attrs.frozen
class Settings:
    """The checked arguments of a client's constructor."""

    base: BaseAddress
    api_key: Secret | None = None
    user_id: Secret | None = None
    sources: Mapping[str, str] = attrs.field(factory=dict[str, str], eq=False)
    """What the base address, each credential, the proxy and ``read_only`` are from: a
    variable, a profile's setting, or an argument by its name."""
    withheld: tuple[str, ...] = ()
    """The variables of the environment whose credentials are for another address."""
    timeout: float = attrs.field(default=30.0, validator=_by(check_seconds))
    total_timeout: float = attrs.field(default=120.0, validator=_by(check_seconds))
    retry: RetryPolicy = attrs.field(factory=RetryPolicy, converter=as_policy)
    max_connections: int = attrs.field(default=50, validator=_by(positive_count))
    read_only: bool = attrs.field(default=False, validator=_by(_check_flag))
    # A proxy's address may hold a password.
    proxy: str | None = attrs.field(default=None, converter=_revealed, repr=False)
    verify: bool | str | ssl.SSLContext = attrs.field(
        default=True, converter=checked_verify
    )
    headers: tuple[tuple[str, Secret], ...] = ()
    """What the caller adds to every request; the values may be credentials."""
    user_agent: str | None = None
    """What stands before the package's own name, from a header of the caller's."""
    profile: str = ""
    """The name of the profile that the account is of, for errors."""
    # Clients with different stores may share their connections.
    store: KeyValueStore | None = attrs.field(default=None, eq=False, repr=False)
    pauses: Pauses = attrs.field(factory=Pauses, eq=False, repr=False)

    @property
    def why_read_only(self) -> str:
        """What makes the client read-only, for an error."""
        if self.sources.get("read_only") == READ_ONLY_VARIABLE:
            return f"{READ_ONLY_VARIABLE} allows to read only"
        return "this client is read-only"


def resolve(
    *,
    base_url: object,
    api_key: object,
    user_id: object,
    proxy: Any,
    headers: object,
    **options: Any,
) -> Settings:
    """The settings for a constructor's arguments and for what was left out.

    A credential from the environment goes only to a base address from the environment.
    """
    extra = checked_headers(headers)
    of_environment = os.environ.get(BASE_URL_VARIABLE)
    source = BASE_URL_VARIABLE if base_url is NOT_GIVEN else "base_url"
    if base_url is NOT_GIVEN and not of_environment:
        raise ConfigurationError(
            f"there is no base address: give base_url, or set {BASE_URL_VARIABLE}"
        )
    base = _parsed(of_environment if base_url is NOT_GIVEN else base_url, source)
    sources = {"base_url": source, "proxy": "proxy"}
    trusted = of_environment and base == _parsed(of_environment, BASE_URL_VARIABLE)
    withheld = list[str]()
    for name, given in (("api_key", api_key), ("user_id", user_id)):
        secret = given
        if given is NOT_GIVEN:
            secret = credential_of_environment(name) if trusted else None
            withheld += [] if trusted else filter(None, [_variable_of(name)])
        if secret is not None:
            source = getattr(secret, "source", "") or name
            options[name], sources[name] = checked_secret(secret, source), source
    if proxy is NOT_GIVEN:
        proxy = as_secret(proxy_from_environment(base))
        sources["proxy"] = f"{base.scheme.upper()}_PROXY or ALL_PROXY"
    if os.environ.get(READ_ONLY_VARIABLE, "").strip().lower() not in _NO:
        options["read_only"], sources["read_only"] = True, READ_ONLY_VARIABLE
    agents = [text for name, text in extra if name.lower() == "user-agent"]
    return Settings(
        base=base,
        sources=sources,
        withheld=tuple(withheld),
        proxy=proxy,
        headers=tuple(one for one in extra if one[0].lower() != "user-agent"),
        user_agent=agents[0].reveal() if agents else None,
        **options,
    )


def _parsed(text: object, source: str) -> BaseAddress:
    try:
        return BaseAddress.parse(text)
    except ValueError as error:
        problem = f"{source}: {error}"
    raise ConfigurationError(problem)


# --- the environment --------------------------------------------------------------


def _variable_of(name: str) -> str:
    """The variable that gives the ``api_key`` or the ``user_id``; empty without one."""
    variable = _VARIABLES[name]
    names = (name for name in (variable, f"{variable}_FILE") if os.environ.get(name))
    return next(names, "")


def credential_of_environment(name: str) -> Secret | None:
    """The ``api_key`` or the ``user_id`` of the environment, or of the file that a
    variable names; None without. An empty variable is one that is not set.

    Raises:
        ConfigurationError: It is given twice, is no credential, or the file can't be
            read.
    """
    variable, by_file = _VARIABLES[name], f"{_VARIABLES[name]}_FILE"
    if not (found := _variable_of(name)):
        return None
    if found == by_file:
        return read_key_file(os.environ[by_file], by_file)
    if os.environ.get(by_file):
        raise ConfigurationError(f"setting both {variable} and {by_file} is an error")
    return checked_secret(Secret(os.environ[variable], variable), variable)


def credentials_from(settings: Settings, needed: Credentials) -> str:
    """Where the credentials of a request are from that *needed* them."""
    if needed is Credentials.MADE_UP:
        return "its API key is made up"
    key, user = map(settings.sources.get, _VARIABLES)
    text = "it was sent without an API key"
    if key and needed is not Credentials.NONE:
        text = f"its API key is from {key}"
    if user and needed is Credentials.KEY_AND_USER:
        text += f", its user ID from {user}"
    if settings.withheld and needed is not Credentials.NONE:
        text += (
            f"; {' and '.join(settings.withheld)} is for another address: "
            "Client.from_env(base_url) sends it to this one"
        )
    return text


def certificates_of_environment() -> tuple[str, str] | None:
    """The variable that names certificates to trust, and the file or folder."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if path := os.environ.get(name):
            return name, path
    return None


def proxy_from_environment(base: BaseAddress) -> str | None:
    """The address of the proxy that leads to *base*, or None, as the standard library
    reads ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``.
    """
    from ipaddress import ip_address
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    proxy = proxies.get(base.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(f"{base.host}:{base.origin[2]}"):
        return None
    # proxy_bypass compares texts, and an IPv6 address has many.
    for name in proxies.get("no", "").split(",") if ":" in base.host else ():
        with suppress(ValueError):
            if ip_address(name.strip(" []")) == ip_address(base.host):
                return None
    return proxy if "://" in proxy else f"http://{proxy}"
