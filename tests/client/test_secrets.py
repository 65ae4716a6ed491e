"""Secrets: a generated key shows nowhere but in the header it is for."""

from __future__ import annotations

import pickle
import pprint
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secret_search
from both_clients import QUERY, VARIANTS, faked, opened
from commands import exit_code
from fault_cases import CASES, LARGE, SHORT, TOTAL, get, run
from sitestats import (
    AsyncClient,
    Client,
    ConfigurationError,
    SiteStatsError,
    SiteStatsWarning,
)
from sitestats.emulator import Emulator

BASE = "https://analytics.example"
LONG = 16
"""Letters of a generated key: shorter ones may stand in a text by chance."""

# No program has a name that begins so: Hypothesis also tries words that it finds in the
# code, which a frame may show.
keys = st.text(
    st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=LONG
).map("%<{}>".format)
clients = st.sampled_from([Client, AsyncClient])
variants = st.sampled_from(VARIANTS)
FAILING = [
    name
    for name, case in CASES.items()
    if case.gives not in {"value", LARGE}
    and case.call is get
    # Those that wait take too long for a property.
    and not {*SHORT, *TOTAL} & case.options.keys()
]


def shows(text: str, *secrets: str) -> bool:
    """Whether any of *secrets* is in *text*, as Python, JSON or bytes show it."""
    return any(
        form in text
        for key in secrets
        for form in (key, repr(key)[1:-1], ascii(key.encode())[2:-1])
    )


def below(thing: Any, depth: int = 5) -> Iterator[Any]:
    """*thing* and all that it holds, without the insides of a secret."""
    yield thing
    if not depth or type(thing).__name__ == "Secret":
        return
    held = list(vars(thing).values()) if hasattr(thing, "__dict__") else []
    if attrs.has(type(thing)):
        held += [getattr(thing, field.name) for field in attrs.fields(type(thing))]
    if isinstance(thing, dict):
        held += [*thing.keys(), *thing.values()]
    elif isinstance(thing, (list, tuple, set, frozenset)):
        held += list(thing)
    plain = (dict, list, tuple, set, frozenset, str, bytes)
    for one in held:
        if type(one).__module__.startswith("sitestats") or isinstance(one, plain):
            yield from below(one, depth - 1)


@given(keys, keys, clients)
def test_no_object_shows_a_key(key: str, user: str, cls: Any) -> None:
    """Neither a client nor anything it holds shows a key in its repr."""
    rich = pytest.importorskip("rich.pretty")
    client = cls(BASE, api_key=key, user_id=user, proxy=None)
    assert not shows(rich.pretty_repr(client), key, user)
    view = client.with_options(timeout=1.0)
    for one in (client, view, client.stats, client.websites):
        for thing in below(one):
            shown = f"{thing} {thing!r} {pprint.pformat(thing)}"
            assert not shows(shown, key, user), type(thing)


KEY = "sa_api_key_0123456789abcdefghijklmn"
PROXY = f"http://user:{KEY}@proxy.example:3128"
REFUSED: list[dict[str, Any]] = [
    *({"api_key": KEY + end} for end in ("\n", " ", "\0", "é", "\r\nX-Injected: 1")),
    {"api_key": KEY.encode()},
    {"base_url": f"https://user:{KEY}@stats.example"},
    *({"proxy": PROXY.replace("http", "ftp")}, {"proxy": f"http://u:{KEY}@[bad"}),
    *({"proxy": {"https": PROXY}}, {"proxy": PROXY.replace("3128", "99999")}),
    *({"headers": {name: KEY}} for name in ("X Y", "Host")),
    *({"headers": headers} for headers in ({"X": f"{KEY}\n"}, [("X", KEY)], KEY)),
    *(
        {"proxy": PROXY, "headers": {"Authorization": KEY}, "api_key": KEY, name: value}
        for name, value in {"timeout": -1, "verify": 0, "retries": -1}.items()
    ),
]


@pytest.fixture
def profile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile without a key, named by a variable."""
    (tmp_path / "sitestats").mkdir()
    text = f"[profiles.work]\nbase_url = '{BASE}'"
    (tmp_path / "sitestats" / "config.toml").write_text(text)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("SITESTATS_PROFILE", "work")


@pytest.mark.usefixtures("profile")
@pytest.mark.parametrize("cls", [Client, AsyncClient])
@pytest.mark.parametrize("options", REFUSED, ids=range(len(REFUSED)))
def test_what_is_refused_is_not_repeated(cls: Any, options: Any) -> None:
    """The error for a wrong argument shows no credential, not even in the variables of
    the package's frames.
    """
    make = {"base_url": BASE, **options}
    for call in (cls, cls.from_env, cls.from_profile):
        with pytest.raises(ConfigurationError) as caught:
            call(**make)
        assert not shows(secret_search.shown_by(caught.value), KEY)
    client = cls(BASE, proxy=PROXY)
    with pytest.raises(ConfigurationError, match="timeout") as caught:
        client.with_options(timeout=-1)
    assert not shows(secret_search.shown_by(caught.value), KEY)


@given(keys, keys, variants, st.sampled_from(FAILING))
def test_no_failure_shows_a_key(key: str, user: str, variant: str, name: str) -> None:
    """Neither an error with its chain, its pickle and the variables of our frames nor a
    log record of any library shows a key, also where the service repeats the request.
    """
    with secret_search.everything_logged() as lines:
        outcome, _ = run(variant, CASES[name], api_key=key, user_id=user)
    assert isinstance(outcome, SiteStatsError)
    assert not shows(secret_search.shown_by(outcome), key, user)
    assert not shows("\n".join(lines), key, user)


@given(keys, keys, variants)
def test_no_success_shows_a_key(key: str, user: str, variant: str) -> None:
    """Neither a result nor a warning nor a log record of a good call shows a key, and
    the header carries it as it is.
    """
    with (
        faked() as routes,
        secret_search.everything_logged() as lines,
        warnings.catch_warnings(record=True) as warned,
        opened(variant, api_key=key, user_id=user) as client,
    ):
        route = routes.get("/example.com.json", headers={"Api-Key": key})
        route.respond(json={"ok": True, "pageviews": 3, "timezone": "Asia/Tokyo"})
        warnings.simplefilter("always")
        result = client.stats.get(QUERY.timezone("UTC"))
    parts = [*lines, *(repr(thing) for thing in below(result))]
    parts += [f"{one.message} {vars(one)}" for one in warned]
    assert any(issubclass(one.category, SiteStatsWarning) for one in warned)
    assert not shows(f"{parts} {result.raw()} {pickle.dumps(result)!r}", key, user)
    assert "User-Id" not in route.calls.last.request.headers


# -- commands


@pytest.fixture
def emulator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Emulator]:
    """The service for commands: its address and credentials are in the environment."""
    emulator = Emulator.demo()
    with emulator.serve() as address:
        monkeypatch.setenv("SITESTATS_BASE_URL", address)
        monkeypatch.setenv("SITESTATS_API_KEY", emulator.api_key)
        monkeypatch.setenv("SITESTATS_USER_ID", emulator.user_id)
        yield emulator


def test_no_command_shows_a_key(
    emulator: Emulator, capsys: pytest.CaptureFixture[str]
) -> None:
    """No command prints a key, whether it succeeds or fails."""
    host = "semicomplete.com"
    for command in (
        *(["stats", host, "--last", "3"], ["stats", "nobody.example", "--last", "3"]),
        *(["url", host, "--last", "3"], ["websites", "list"], ["stats"], ["--help"]),
        ["websites", "add", host, "--yes"],
    ):
        exit_code(*command)
        assert not shows(
            "".join(capsys.readouterr()), emulator.api_key, emulator.user_id
        )
    assert emulator.requests
