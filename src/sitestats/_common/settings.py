"""Client settings: arguments, environment variables, retries, proxies."""

from __future__ import annotations

import os
import random
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import attrs

from .errors import ConfigurationError
from .hostnames import BaseAddress
from .pauses import Pauses
from .secret import Secret, checked_secret
from .text import shown
from .wire import Credentials

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from .keyvalue import KeyValueStore


MIB: Final = 1024 * 1024

BASE_URL_VARIABLE: Final = "SITESTATS_BASE_URL"
API_KEY_VARIABLE: Final = "SITESTATS_API_KEY"
USER_ID_VARIABLE: Final = "SITESTATS_USER_ID"
READ_ONLY_VARIABLE: Final = "SITESTATS_READ_ONLY"
FILE_ENDING: Final = "_FILE"
"""The end of the variable that names a file with a credential:
``SITESTATS_API_KEY_FILE``."""

PROFILE_VARIABLE: Final = "SITESTATS_PROFILE"

_VARIABLES: Final = {"api_key": API_KEY_VARIABLE, "user_id": USER_ID_VARIABLE}
ACCOUNT_VARIABLES: Final = (
    BASE_URL_VARIABLE,
    *(name + end for name in _VARIABLES.values() for end in ("", FILE_ENDING)),
)
"""The variables that name an account, where no profile does."""
_FLAGS: Final = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("", "0", "false", "no", "off"), False),
}
"""The values of a variable that is yes or no, in any case."""


class _NotGiven(Enum):
    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return "<not given>"


NOT_GIVEN: Final = _NotGiven.NOT_GIVEN
"""An argument that is not given comes from the environment; None means without."""

NotGiven: TypeAlias = Literal[_NotGiven.NOT_GIVEN]


GivenSecret: TypeAlias = Secret | NotGiven | None


def wrap_credential(value: object) -> GivenSecret:
    """Wrap a credential before anything can fail with it in a traceback."""
    if value is None or value is NOT_GIVEN or isinstance(value, Secret):
        return value
    return Secret(value if isinstance(value, str) else "")


def _not_negative(
    _instance: RetryPolicy, attribute: attrs.Attribute[Any], value: object
) -> None:
    wanted = int if attribute.name == "retries" else (int, float)
    if (
        isinstance(value, bool)
        or not isinstance(value, wanted)
        or not 0 <= value < float("inf")
    ):
        kind = "a whole number" if wanted is int else "a number of seconds"
        name = "retries" if wanted is int else attribute.name
        raise ConfigurationError(f"{name} is {kind}, 0 or more; got {value!r}")


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

    retries: int = attrs.field(default=2, validator=_not_negative)
    wait_initial: float = attrs.field(default=0.5, validator=_not_negative)
    wait_max: float = attrs.field(default=8.0, validator=_not_negative)

    def longest_wait(self, retry: int) -> float:
        """The most seconds to wait before the *retry*-th retry, from 1."""
        # The exponent is bounded, since 2.0 ** 1024 is an OverflowError.
        return min(self.wait_max, self.wait_initial * 2.0 ** min(retry - 1, 64))

    def wait(self, retry: int) -> float:
        """Seconds to wait before the *retry*-th retry, drawn with jitter."""
        longest = self.longest_wait(retry)
        return random.uniform(longest / 2, longest)  # noqa: S311  no secret


@attrs.frozen
class Settings:
    """The checked arguments of a client's constructor."""

    base: BaseAddress
    api_key: Secret | None = None
    user_id: Secret | None = None
    timeout: float = 30.0
    total_timeout: float = 120.0
    retry: RetryPolicy = RetryPolicy()
    max_connections: int = 50
    max_response_bytes: int = 64 * MIB
    read_only: bool = False
    # A proxy's address may hold a password.
    proxy: str | None = attrs.field(default=None, repr=False)
    verify: bool | str | ssl.SSLContext = True
    headers: tuple[tuple[str, Secret], ...] = ()
    """What the caller adds to every request; the values may be credentials."""
    user_agent: str | None = None
    # Clients with different stores may share their connections.
    store: KeyValueStore | None = attrs.field(default=None, eq=False, repr=False)
    pauses: Pauses = attrs.field(factory=Pauses, eq=False, repr=False)
    profile: str = ""
    """The name of the profile that the account is of, for errors."""
    from_environment: frozenset[str] = frozenset()
    """Which of the credentials were read from the environment, the proxy if it was
    left to it, and ``read_only`` if a variable demands it."""
    sources: Mapping[str, str] = attrs.field(
        factory=dict[str, str], eq=False, repr=False
    )
    """Where the base address and each credential are from: a variable, a profile's
    setting or an argument."""

    def with_sources(self, **sources: str) -> Settings:
        """These settings, with other *sources* of the credentials that there are."""
        found = {name: one for name, one in sources.items() if getattr(self, name, 1)}
        return attrs.evolve(self, sources={**self.sources, **found})

    @property
    def why_read_only(self) -> str:
        """What makes the client read-only, for an error."""
        if "read_only" in self.from_environment:
            return f"{READ_ONLY_VARIABLE} allows to read only"
        return "this client is read-only"


def resolve(
    *,
    base_url: object,
    api_key: GivenSecret,
    user_id: GivenSecret,
    timeout: object,
    total_timeout: object,
    retries: object,
    max_connections: object,
    read_only: object,
    proxy: object,
    verify: object,
    headers: tuple[tuple[str, Secret], ...] = (),
    store: KeyValueStore | None = None,
) -> Settings:
    """Check a constructor's arguments and read what was left out.

    A credential from the environment goes only to a base address from the
    environment.
    """
    base = _base_address(base_url)
    trusted = base == _base_address_of_environment()
    sources: dict[str, str] = {
        "base_url": BASE_URL_VARIABLE if base_url is NOT_GIVEN else "base_url"
    }
    key = _credential("api_key", api_key, trusted, sources)
    user = _credential("user_id", user_id, trusted, sources)
    from_environment = {
        name
        for name, given in (("api_key", api_key), ("user_id", user_id))
        if given is NOT_GIVEN and name in sources
    }
    if read_only_by_environment():
        from_environment.add("read_only")
    if proxy is NOT_GIVEN:
        from_environment.add("proxy")
    agents = [one for one in headers if one[0].lower() == "user-agent"]
    return Settings(
        base=base,
        api_key=key,
        user_id=user,
        timeout=check_seconds("timeout", timeout),
        total_timeout=check_seconds("total_timeout", total_timeout),
        retry=as_policy(retries),
        max_connections=positive_count("max_connections", max_connections),
        read_only=_flag("read_only", read_only) or "read_only" in from_environment,
        proxy=_proxy(proxy, base),
        verify=checked_verify(verify),
        headers=tuple(one for one in headers if one not in agents),
        user_agent=agents[0][1].reveal() if agents else None,
        store=store,
        from_environment=frozenset(from_environment),
        sources=sources,
    )


def _base_address(given: object) -> BaseAddress:
    if given is NOT_GIVEN:
        found = _base_address_of_environment()
        if found is None:
            raise ConfigurationError(
                f"there is no base address: give base_url, or set {BASE_URL_VARIABLE}"
            )
        return found
    if not isinstance(given, str):
        raise ConfigurationError(
            f"base_url is an address such as 'https://…'; got {type(given).__name__}"
        )
    return _parsed(given, "base_url")


def _base_address_of_environment() -> BaseAddress | None:
    text = os.environ.get(BASE_URL_VARIABLE)
    return _parsed(text, BASE_URL_VARIABLE) if text else None


def _parsed(text: str, source: str) -> BaseAddress:
    try:
        return BaseAddress.parse(text)
    except ValueError as error:
        problem = f"{source}: {error}"
    raise ConfigurationError(problem)


def _credential(
    name: str,
    given: GivenSecret,
    trusted: bool,  # noqa: FBT001  passed on by resolve alone
    sources: dict[str, str],
) -> Secret | None:
    if given is None:
        return None
    if given is not NOT_GIVEN:
        sources[name] = name
        return checked_secret(given, name)
    found = credential_of_environment(name) if trusted else None
    if found is not None:
        sources[name] = variable_of(name)
    return found


def key_of_file(path: str | os.PathLike[str], given: GivenSecret) -> Secret:
    """The key in the file that is named beside the *given* key.

    Raises:
        ConfigurationError: A key is given as well, or the file has none.
    """
    if given is not NOT_GIVEN:
        raise ConfigurationError("api_key and key_file: give one of both")
    # Imported here, as below.
    from .key_file import read_key_file

    return read_key_file(path, "key_file")


def credential_of_environment(name: str) -> Secret | None:
    """The ``api_key`` or the ``user_id`` of the environment, or of the file that a
    variable names; None without. An empty variable is one that is not set.

    Raises:
        ConfigurationError: It is given twice, is no credential, or the file can't be
            read.
    """
    variable = _VARIABLES[name]
    by_file = variable + FILE_ENDING
    path = os.environ.get(by_file)
    if not os.environ.get(variable):
        if not path:
            return None
        # Imported here, since few programs need it.
        from .key_file import read_key_file

        return read_key_file(path, by_file)
    if path:
        raise ConfigurationError(
            f"{variable} and {by_file} are both set: unset one of the two"
        )
    return checked_secret(Secret(os.environ[variable]), variable)


def variable_of(name: str) -> str:
    """The variable that gives the ``api_key`` or the ``user_id``, where one does."""
    variable = _VARIABLES[name]
    return variable if os.environ.get(variable) else variable + FILE_ENDING


def credentials_from(settings: Settings, needed: Credentials) -> str:
    """Where the credentials of a request are from that *needed* them."""
    if needed is Credentials.MADE_UP:
        return "its API key is made up"
    if needed is Credentials.NONE:
        return "it was sent without an API key"
    key, user = map(settings.sources.get, _VARIABLES)
    text = f"its API key is from {key}" if key else "it was sent without an API key"
    if user and needed is Credentials.KEY_AND_USER:
        text += f", its user ID from {user}"
    return text


def certificates_of_environment() -> tuple[str, str] | None:
    """The variable that names certificates to trust, and the file or folder."""
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if path := os.environ.get(name):
            return name, path
    return None


def read_only_by_environment() -> bool:
    """Whether the environment makes every client read-only.

    Raises:
        ConfigurationError: The variable is neither yes nor no.
    """
    text = os.environ.get(READ_ONLY_VARIABLE, "")
    if text.strip().lower() not in _FLAGS:
        raise ConfigurationError(
            f"{READ_ONLY_VARIABLE} is 1 or 0 (or true, false, yes, no, on, off), not "
            f"{shown(text)}"
        )
    return _FLAGS[text.strip().lower()]


def check_seconds(name: str, value: object) -> float:
    """*value* as a finite number of seconds above 0, or a ConfigurationError."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or not 0 < value < float("inf")
    ):
        raise ConfigurationError(
            f"{name} is a number of seconds above 0; got {value!r} (there is always a "
            "limit: give a large number instead)"
        )
    return float(value)


def as_policy(retries: object) -> RetryPolicy:
    """The policy for *retries*: a number of retries, or a policy itself."""
    if isinstance(retries, RetryPolicy):
        return retries
    if isinstance(retries, bool) or not isinstance(retries, int):
        raise ConfigurationError(
            f"retries is a whole number or a RetryPolicy; got {retries!r}"
        )
    return RetryPolicy(retries=retries)


def positive_count(name: str, value: object) -> int:
    """*value* as a whole number from 1 on, or a ConfigurationError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigurationError(f"{name} is a whole number, 1 or more; got {value!r}")
    return value


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ConfigurationError(f"{name} is True or False; got {value!r}")
    return value


def _proxy(given: object, base: BaseAddress) -> str | None:
    if given is NOT_GIVEN:
        return proxy_from_environment(base)
    if given is None or isinstance(given, str):
        return given
    raise ConfigurationError(
        f"proxy is an address such as 'http://…' or None; got {type(given).__name__}"
    )


def checked_verify(given: object) -> bool | str | ssl.SSLContext:
    """*given* as certificates to verify a server by: a path as a text.

    Raises:
        ConfigurationError: It is none. What is wrong must not trust everybody.
    """
    if isinstance(given, bool):
        return given
    try:
        path: object = os.fspath(cast("str", given))
    except TypeError:
        path = None
    if isinstance(path, str) and path:
        return path
    # By what it does: another class may have taken the place of ssl.SSLContext.
    if callable(getattr(given, "wrap_bio", None)) and not isinstance(given, type):
        return cast("ssl.SSLContext", given)
    raise ConfigurationError(
        "verify is True, False, the path of a file or a folder of certificates, or an "
        f"ssl.SSLContext; got {'an empty path' if path == '' else type(given).__name__}"
    )


def without_credentials(settings: Settings) -> Settings:
    """*settings* as they are pickled: what came from the environment is left out.

    Raises:
        ConfigurationError: A credential came from an argument.
    """
    for name in ("api_key", "user_id"):
        if getattr(settings, name) and name not in settings.from_environment:
            raise ConfigurationError(
                f"this client has its {name} from an argument, and a credential "
                f"is never pickled: set {API_KEY_VARIABLE} and {USER_ID_VARIABLE}, "
                "and leave the arguments out"
            )
    if "proxy" in settings.from_environment:
        settings = attrs.evolve(settings, proxy=None)
    elif "@" in urlsplit(settings.proxy or "").netloc:
        raise ConfigurationError(
            "this client has a proxy with a user or a password from an argument, and "
            "a credential is never pickled: set HTTPS_PROXY or HTTP_PROXY, and leave "
            "the argument out"
        )
    return attrs.evolve(settings, api_key=None, user_id=None)


def with_credentials_of_environment(settings: Settings) -> Settings:
    """*settings* with the credentials, and the proxy, that it had from the
    environment.
    """
    proxy = settings.proxy
    if "proxy" in settings.from_environment:
        proxy = proxy_from_environment(settings.base)
    return attrs.evolve(
        settings,
        read_only=settings.read_only or read_only_by_environment(),
        proxy=proxy,
        api_key=_from_environment(settings, "api_key"),
        user_id=_from_environment(settings, "user_id"),
    )


def _from_environment(settings: Settings, name: str) -> Secret | None:
    if name not in settings.from_environment:
        return None
    found = credential_of_environment(name)
    if found is None:
        raise ConfigurationError(
            f"this client was pickled with its {name} from the environment, and "
            f"{_VARIABLES[name]} is not set in this process: set it here too"
        )
    return found


# --- proxies ----------------------------------------------------------------------


def proxy_from_environment(base: BaseAddress) -> str | None:
    """The address of the proxy that leads to *base*, or None.

    Reads ``HTTPS_PROXY``, ``HTTP_PROXY``, ``ALL_PROXY`` and ``NO_PROXY``, and
    the system's settings where it has them, as the standard library does.
    """
    from urllib.request import getproxies

    proxies = getproxies()
    proxy = proxies.get(base.scheme) or proxies.get("all")
    if not proxy or _needs_none(base):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _needs_none(base: BaseAddress) -> bool:
    """Whether ``NO_PROXY`` has the host, in any way to write it."""
    from urllib.request import proxy_bypass

    hosts = [base.host]
    if ":" in base.host:
        hosts.append(f"[{base.host}]")
    if "xn--" in base.host:
        import idna

        with suppress(UnicodeError):
            hosts.append(idna.decode(base.host))
    # With a port, as what is behind the last colon is taken for one.
    return any(proxy_bypass(f"{host}:{base.origin[2]}") for host in hosts)
