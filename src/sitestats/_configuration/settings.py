"""Client settings: arguments, environment variables, retries, proxies."""

from __future__ import annotations

import ipaddress
import math
import os
import random
import re
from collections.abc import Awaitable
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol, cast
from urllib.parse import urlsplit

import attrs

from sitestats._base.errors import ConfigurationError, warn
from sitestats._base.hostnames import BaseAddress, is_loopback
from sitestats._configuration.secrets import (
    Secret,
    checked_headers,
    checked_secret,
    read_key_file,
)
from sitestats._public import Public
from sitestats._wire.messages import Credentials
from sitestats._wire.values import InJson

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Mapping


BASE_URL_VARIABLE: Final = "SITESTATS_BASE_URL"
API_KEY_VARIABLE: Final = "SITESTATS_API_KEY"
USER_ID_VARIABLE: Final = "SITESTATS_USER_ID"
READ_ONLY_VARIABLE: Final = "SITESTATS_READ_ONLY"
PROFILE_VARIABLE: Final = "SITESTATS_PROFILE"
_VARIABLES: Final = {"api_key": API_KEY_VARIABLE, "user_id": USER_ID_VARIABLE}
_NO: Final = frozenset(("", "0", "false", "no", "off"))
"""The values of a variable that mean no, in small letters or capitals."""


class NotGiven(Public, Enum):
    """The type of ``NOT_GIVEN``."""

    NOT_GIVEN = "not given"


NOT_GIVEN: Final = NotGiven.NOT_GIVEN
"""An argument that is not given comes from the environment; None means without."""


# --- checks -----------------------------------------------------------------------


def _refusal(name: str, expected: str, value: object) -> ConfigurationError:
    # A text may be a key, in the wrong place.
    given = repr(value) if isinstance(value, (int, float)) else type(value).__name__
    return ConfigurationError(f"{name} is {expected}, not {given}")


def check_seconds(name: str, value: Any, least: float = 0.001) -> float:
    """*value* as a finite number of seconds, or a ConfigurationError."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and least <= value < math.inf:
        return float(value)
    raise _refusal(name, f"a number of seconds, {least:g} or more", value)


def positive_count(name: str, value: object, least: int = 1) -> int:
    """*value* as a whole number from *least* on, or a ConfigurationError."""
    if isinstance(value, int) and value is not True and value >= least:
        return value
    raise _refusal(name, f"a whole number, {least} or more", value)


def check_flag(name: str, value: object) -> None:
    """Raise an error if *value* is not True or False: the text "no" would be true."""
    if not isinstance(value, bool):
        raise _refusal(name, "True or False", value)


def checker(
    check: Callable[..., object], *least: float
) -> Callable[[object, attrs.Attribute[Any], object], None]:
    """A validator of attrs that checks a value by its name."""

    def validate(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
        check(attribute.name, value, *least)

    return validate


def checked_verify(given: Any) -> bool | str | ssl.SSLContext:
    """*given*, which says how to verify a server; a path becomes text.

    Raises:
        ConfigurationError: It is something else, which must not turn the check off.
    """
    # A context is known by its methods: another class may have replaced ssl's.
    if isinstance(given, bool) or callable(getattr(given, "wrap_bio", None)):
        return cast("bool | ssl.SSLContext", given)
    if isinstance(given, (str, os.PathLike)) and (path := str(cast("Any", given))):
        return path
    expected = "True, False, the path of certificates, or an ssl.SSLContext"
    raise _refusal("verify", expected, cast("Any", given))


# --- values of arguments ----------------------------------------------------------


@attrs.frozen
class RetryPolicy(InJson):
    """How often a request is retried, and after how many seconds.

    The wait before the n-th retry is random: from half of
    ``wait_initial * 2 ** (n - 1)`` to the whole, and at most ``wait_max``. If
    ``Retry-After`` is longer, the client waits for the full time.

    Example:
        >>> RetryPolicy(retries=5, wait_max=30.0)
        RetryPolicy(retries=5, wait_initial=0.5, wait_max=30.0)
    """

    retries: int = attrs.field(default=2, validator=checker(positive_count, 0))
    wait_initial: float = attrs.field(default=0.5, validator=checker(check_seconds, 0))
    wait_max: float = attrs.field(default=8.0, validator=checker(check_seconds, 0))

    def wait(self, retry: int) -> float:
        """Seconds to wait before the *retry*-th retry, from 1, drawn with jitter."""
        # The exponent is bounded, since 2.0 ** 1024 is an OverflowError.
        longest = min(self.wait_max, self.wait_initial * 2.0 ** min(retry - 1, 64))
        return random.uniform(longest / 2, longest)  # noqa: S311  no secret


def as_policy(retries: int | RetryPolicy) -> RetryPolicy:
    """The policy for *retries*: a number of retries, or a policy itself."""
    return retries if isinstance(retries, RetryPolicy) else RetryPolicy(retries)


class KeyValueStore(Protocol):
    """Your own store for responses, for example in Redis.

    Several threads can call it at the same time. An error that it raises becomes a
    ``SiteStatsWarning``, and the request is sent. It may have the ``max_age`` and the
    ``partition`` of a ``Store``.

    For an ``AsyncClient``, the methods may be asynchronous, as in ``redis.asyncio``.

    Example:
        >>> class InMemory:
        ...     def __init__(self) -> None:
        ...         self.values: dict[str, bytes] = {}
        ...
        ...     def get(self, key: str) -> bytes | None:
        ...         return self.values.get(key)
        ...
        ...     def set(self, key: str, value: bytes) -> None:
        ...         self.values[key] = value
        >>> with emulator.client(store=InMemory()) as storing:
        ...     query = StatsQuery("semicomplete.com").fields("visitors")
        ...     day = query.on("2015-05-18")
        ...     first, second = storing.stats.get(day), storing.stats.get(day)
        >>> first == second, first.from_store, second.from_store
        (True, False, True)
    """

    # The parameters are positional, so that your methods can name them otherwise.
    def get(self, key: str, /) -> bytes | Awaitable[bytes | None] | None:
        """The value of *key*, or None."""
        ...

    def set(self, key: str, value: bytes, /) -> object:
        """Store *value* under *key*."""
        ...


# --- settings ---------------------------------------------------------------------


@attrs.frozen(eq=False, repr=False)
class Settings:
    """The checked arguments of a client's constructor."""

    base: BaseAddress
    api_key: Secret | None = None
    user_id: Secret | None = None
    sources: Mapping[str, str] = attrs.field(factory=dict[str, str])
    """The source of the base address, of each credential, of the proxy and of
    ``read_only``: a variable, a profile's setting, or an argument, by its name."""
    withheld: tuple[str, ...] = ()
    """The variables of the environment whose credentials are for another address."""
    timeout: float = attrs.field(default=30.0, validator=checker(check_seconds))
    total_timeout: float = attrs.field(default=120.0, validator=checker(check_seconds))
    retry: RetryPolicy = attrs.field(factory=RetryPolicy, converter=as_policy)
    max_connections: int = attrs.field(default=50, validator=checker(positive_count))
    read_only: bool = attrs.field(default=False, validator=checker(check_flag))
    proxy_address: Secret | None = None
    verify: bool | str | ssl.SSLContext = attrs.field(
        default=True, converter=checked_verify
    )
    headers: tuple[tuple[str, Secret], ...] = ()
    """What the caller adds to every request; the values may be credentials."""
    user_agent: str | None = None
    """The caller's ``User-Agent``, which stands before the package's own name."""
    profile: str = ""
    """The name of the account's profile, for errors."""
    store: KeyValueStore | None = None

    @property
    def proxy(self) -> str | None:
        """The address of the proxy in plain text, with its password."""
        return None if self.proxy_address is None else self.proxy_address.reveal()

    @property
    def shown_proxy(self) -> str:
        """The address of the proxy without its login."""
        parts = urlsplit(self.proxy or "")
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

    @property
    def why_read_only(self) -> str:
        """What makes the client read-only, for an error."""
        own = f"the client of {self.profile!r}" if self.profile else "this client"
        return f"{self.sources.get('read_only', own)} allows only reads"


def resolve(
    *,
    base_url: Any,
    api_key: Any,
    user_id: Any,
    proxy: Any,
    headers: Secret | None,
    **options: Any,
) -> Settings:
    """The settings for a constructor's ``wrapped`` arguments; the environment has the
    others.

    A credential from the environment goes only to a base address from the environment.
    """
    extra = checked_headers(headers)
    own_url = Secret(os.environ.get(BASE_URL_VARIABLE, ""), BASE_URL_VARIABLE)
    address = own_url if base_url is NOT_GIVEN else base_url or Secret("", "base_url")
    if address is own_url and not own_url.reveal():
        raise ConfigurationError(
            f"the base address is missing: give base_url, or set {BASE_URL_VARIABLE}"
        )
    base = _parsed(address)
    sources = {"base_url": address.source}
    trusted = own_url.reveal() and base == _parsed(own_url)
    withheld = list[str]()
    for name, given in (("api_key", api_key), ("user_id", user_id)):
        secret = given
        if given is NOT_GIVEN:
            secret = credential_of_environment(name) if trusted else None
            withheld += [] if trusted else _variables_of(name)[:1]
        if secret is not None:
            options[name], sources[name] = checked_secret(name, secret), secret.source
    if proxy is NOT_GIVEN:
        proxy = proxy_of_environment(base)
    if proxy is not None:
        sources["proxy"] = proxy.source
    if os.environ.get(READ_ONLY_VARIABLE, "").strip().lower() not in _NO:
        options["read_only"], sources["read_only"] = True, READ_ONLY_VARIABLE
    if base.scheme == "http" and "api_key" in options and not is_loopback(base.host):
        sources["base_url"] += ", without TLS: everybody on the way can read the key"
        warn(f"{base}, from {sources['base_url']}")
    agents = [text for name, text in extra if name.lower() == "user-agent"]
    return Settings(
        base=base,
        sources=sources,
        withheld=tuple(withheld),
        proxy_address=proxy,
        headers=tuple(header for header in extra if header[0].lower() != "user-agent"),
        user_agent=agents[0].reveal() if agents else None,
        **options,
    )


def _parsed(address: Secret) -> BaseAddress:
    try:
        return BaseAddress.parse(address.reveal())
    except ValueError as error:
        why = f"{address.source}: {error}"
    stray = address.stray()
    raise ConfigurationError(f"{why}; {stray}" if stray else why)


# --- the environment --------------------------------------------------------------


def _variables_of(name: str) -> list[str]:
    """The variables that give the ``api_key`` or the ``user_id``.

    An empty variable is one that is not set.
    """
    names = _VARIABLES[name], f"{_VARIABLES[name]}_FILE"
    return [variable for variable in names if os.environ.get(variable)]


def credential_of_environment(name: str) -> Secret | None:
    """The ``api_key`` or the ``user_id`` of the environment, or of the file that a
    variable names; None without.

    Raises:
        ConfigurationError: It is given twice, or the file can't be read.
    """
    match _variables_of(name):
        case []:
            return None
        case [variable] if variable.endswith("_FILE"):
            return read_key_file(Secret(os.environ[variable]), variable)
        case [variable]:
            return Secret(os.environ[variable], variable)
        case both:
            raise ConfigurationError(f"setting both {' and '.join(both)} is an error")


def credentials_from(settings: Settings, needed: Credentials) -> str:
    """Where the credentials of a request are from that *needed* them."""
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


def proxy_of_environment(base: BaseAddress) -> Secret | None:
    """The address of the proxy that leads to *base*, or None, as the standard library
    reads ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``.

    Raises:
        ConfigurationError: ``NO_PROXY`` is not a list of hosts.
    """
    from urllib.request import getproxies, proxy_bypass

    proxies = {name: Secret(value) for name, value in getproxies().items()}
    for kind in (base.scheme, "all"):
        proxy = proxies.get(kind)
        if proxy is None or proxy.fits(""):
            continue
        exceptions = proxies.get("no", Secret("")).reveal()
        _check_exceptions(exceptions)
        host = f"{base.host}:{base.origin[2]}"
        if proxy_bypass(host) or _is_excepted(base.host, exceptions):
            return None
        proxy.source = _variable_of(f"{kind}_proxy", proxy)
        has_scheme = proxy.fits("(?s:.*://.*)")
        return proxy if has_scheme else Secret(f"http://{proxy.reveal()}", proxy.source)
    return None


def _variable_of(name: str, value: Secret) -> str:
    """The variable that has *value*, whose *name* may be in capitals."""
    for variable in os.environ:
        if variable.lower() == name and os.environ[variable] == value.reveal():
            return variable
    return "the proxy settings of this machine"


def _check_exceptions(exceptions: str) -> None:
    """Raise an error if ``NO_PROXY`` can't be what was meant."""
    entry = r"\s*[^\s,;#\"']*\s*"
    if not re.fullmatch(f"{entry}(,{entry})*", exceptions):
        raise ConfigurationError(
            "NO_PROXY is not usable: it has hosts with commas between them, such as "
            "'localhost,.corp.example,10.0.0.0/8', without quotes, semicolons or a '#'"
        )


def _is_excepted(host: str, exceptions: str) -> bool:
    """Whether ``NO_PROXY`` names *host* by a network, or by a ``*`` before a domain,
    which other tools know and the standard library does not.
    """
    for entry in map(str.strip, exceptions.split(",")):
        if entry.startswith("*.") and host.endswith(entry[1:].lower()):
            return True
        # Neither host names nor names of domains are addresses.
        with suppress(ValueError):
            network = ipaddress.ip_network(entry.strip("[]"), strict=False)
            if ipaddress.ip_address(host) in network:
                return True
    return False
