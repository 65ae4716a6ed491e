"""Messages of the commands: options in place of Python, repeated errors as one."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sitestats import Problem, RateLimitedError, RetryPolicy, SpecError
from sitestats._common.pauses import Pauses
from sitestats._common.wire import HttpRequest
from sitestats._protocol.flow import Moment
from sitestats._protocol.retry import send_with_retries
from sitestats.cli._advice import OPTIONS, in_a_shell
from sitestats.cli._app import app

if TYPE_CHECKING:
    from commands import Run
    from sitestats.emulator import Emulator

PYTHON = re.compile(
    r"\.[a-z_]+\(|[a-z]+_[a-z]+\(|\bclient\b|Client\b|from_env|WebsiteSpec|StatsQuery|"
    r"base_url|total_timeout|max_response_bytes|api_key|user_id|extra_param|get_many|"
    r"where_metadata|from_url|where\(|read_only|_columns|_format|columns=|\bTrue\b|"
    r"\bNone\b|\b(?:a|an|of) (?:str|int|bool|dict|tuple|float)\b|\bargument\b"
)
"""Words that help in Python alone."""

WRONG: dict[str, tuple[list[str], str]] = {
    "filter as a step": (
        ["--where", "path=/x"],
        "use --path /contact or --where page=",
    ),
    "metadata": (["--where", "metadata.x=1"], "use --metadata key=value"),
    "version": (
        ["--interval", "hour", "--api-version", "5"],
        "use --api-version 6 or --interval day",
    ),
    "root page": (["--path", "/"], "use --where page=/"),
    "two pages": (["--where", "page=/x", "--path", "/y"], "leave --path /y or"),
    "callback": (["--param", "callback=x"], "--param: "),
    "a period's place": (["--start", "2026-03-02", "--end", "2026-03-01"], "--start"),
    "a day": (["--start", "2026-W10"], "--param start=…"),
    "an event": (["--event", "a,b"], "--event"),
    "an event's star": (["--event", "*"], "use --all-events"),
    "metadata key": (["--metadata", "a-b=1"], "--metadata: "),
    "no event name": (["--event", "a,b"], "give each name by itself"),
    "no field name": (["--field", "a b"], "'a b' is not a field"),
    "an empty filter": (["--where", "country="], "give one, or leave the filter out"),
    "a comma": (["--where", "pages=/a,/b"], "give each by itself, and"),
    "a path": (["--path", "contact"], "is text that starts with '/'"),
    "an empty name": (["--param", "=x"], "is text that is not empty"),
    "days": (["--last", "0"], "is a whole number from 1 to"),
    "a limit": (["--limit", "0"], "is a whole number from 1 to"),
    "a version": (["--api-version", "9"], "is a whole number from 1 to"),
    "days of words": (
        ["--each", "month", "--last", "60"],
        "needs an API key: set SITESTATS_API_KEY",
    ),
    "contains": (["--where", "pages=*abcdefghijklmn*", "-f", "visitors"], "API_KEY"),
    "timeout": (["--total-timeout", "0"], "--total-timeout is"),
    "retries": (["--retries", "-1"], "--retries is"),
    "address": (["--base-url", "https://u:p@stats.example"], "SITESTATS_API_KEY"),
}


@pytest.mark.parametrize(("options", "words"), WRONG.values(), ids=WRONG)
def test_advice_in_a_shell_is_about_options(
    emulator: Emulator,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    words: str,
) -> None:
    """An error in a shell names options and variables, not Python."""
    monkeypatch.delenv("SITESTATS_API_KEY")
    done = run("stats", "semicomplete.com", *options)
    assert done.code == 2
    assert words in done.err
    assert not PYTHON.search(done.err), done.err
    assert emulator.requests == ()


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (["USER_ID"], "a user ID: set SITESTATS_USER_ID"),
        (
            ["API_KEY", "USER_ID"],
            ("an API key and a user ID: set SITESTATS_API_KEY and SITESTATS_USER_ID"),
        ),
    ],
)
def test_missing_credentials_are_variables_to_set(  # noqa: PLR0917 - fixtures
    emulator: Emulator,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    left_out: list[str],
    words: str,
) -> None:
    """Without credentials the error names the variables that are missing."""
    file = tmp_path / "w.csv"
    file.write_text("hostname\na.example\n")
    for name in left_out:
        monkeypatch.setenv(f"SITESTATS_{name}", "")
    for command in (["list"], ["plan", file], ["ensure", file], ["add", "a.example"]):
        done = run("websites", *command)
        assert done.code == 2
        assert done.err == f"sitestats: the Admin API needs {words}\n"
    assert emulator.requests == ()


# --- advice -------------------------------------------------------------------------


def options_of(command: click.Command) -> set[str]:
    """Every option of *command* and of those below it, and HOST."""
    found = {name for option in command.params for name in option.opts}
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            found |= options_of(below)
    return found


IN_OTHER_WORDS = {"HOST", "SITESTATS_API_KEY", "SITESTATS_USER_ID", "the limit"}


@pytest.mark.once
def test_every_option_that_is_advised_exists() -> None:
    """A message that advises a step or an argument names an option that there is."""
    options = {name for words in OPTIONS.values() for name in words.split(", ")}
    assert options - options_of(app) == IN_OTHER_WORDS


@given(
    st.sampled_from(["fields", "events", "where", "path", "extra_param"]),
    st.lists(st.text(max_size=9).filter(lambda text: "…" not in text), min_size=1),
)
def test_a_shell_reads_the_values_of_a_step(name: str, values: list[str]) -> None:
    """Whatever the values are, a shell gives them to the option as they are."""
    values = [value for value in values[:6] if value.isprintable() and value] or ["a"]
    assume(not any("'" in value and '"' in value for value in values))
    text = in_a_shell(f".{name}({', '.join(map(repr, values))})")
    mark = {"fields": ",", "extra_param": "="}.get(name)
    values = values if mark is None else [mark.join(values)]
    assert shlex.split(text) == [w for value in values for w in (OPTIONS[name], value)]


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        (".fields('pageviews', 'pages')", "--field pageviews,pages"),
        (".fields('pageviews', …)", "--field pageviews,…"),
        (".events('a', 'b')", "--event a --event b"),
        (".all_events()", "--all-events"),
        (".between(…, …)", "--start … --end …"),
        (".last(days=…)", "--last …"),
        (".last(days=7).each('day')", "--last 7 --each day"),
        (".timezone(website.timezone)", "--timezone …"),
        (".where(page='/a b')", "--where 'page=/a b'"),
        ('.where(page="/it\'s")', "--where 'page=/it'\"'\"'s'"),
        (".extra_param('start', …)", "--param start=…"),
        (".fields()", "--field"),
        ("columns={'hostname': 'Site'}", "--column hostname=Site"),
        ("ignore_columns=True", "--ignore-columns"),
        ("against='previous_period'", "--against previous_period"),
        ("total_timeout", "--total-timeout"),
        (".raw() or api_keys", ".raw() or api_keys"),
    ],
)
def test_a_step_is_written_as_an_option(step: str, shown: str) -> None:
    """A step of the query builder becomes the option that does the same."""
    assert in_a_shell(f"use {step}") == f"use {shown}"


def test_a_place_is_written_as_an_option() -> None:
    """The argument of a step that is wrong is the option's."""
    error = SpecError([Problem("is wrong", where="where(country=…)")])
    assert in_a_shell(error) == "--where country=…: is wrong"


def test_a_pause_that_is_too_long_names_the_option() -> None:
    """A pause of the service that no attempt waits for names the limit's option."""
    request, pauses = HttpRequest("GET", "/a.json"), Pauses()
    pauses.begin(now=0, seconds=500, searches_alone=False)
    flow = send_with_retries(request, RetryPolicy(), 120, pauses, Moment(0, 0))
    next(flow)
    with pytest.raises(RateLimitedError) as caught:
        flow.send(Moment(0, 0))
    text = in_a_shell(caught.value)
    assert "longer than --total-timeout allows; give a longer one" in text
    assert "(status 429, GET /a.json): try again in 9 minutes (at " in text
    assert "longer than total_timeout allows" in str(caught.value)


# --- many problems ------------------------------------------------------------------


def test_a_file_of_another_form_gives_a_handful_of_lines(
    emulator: Emulator, run: Run, tmp_path: Path
) -> None:
    """A file of five hundred wrong objects does not fill the terminal with errors."""
    path = tmp_path / "w.json"
    wrong = [
        {"name": f"w{number}.example", "tz": "x", "is_public": 1, "a": 1, "b": 2}
        for number in range(500)
    ]
    path.write_text(json.dumps(wrong, indent=1))
    done = run("websites", "plan", path)
    assert done.code == 2
    assert len(done.err.splitlines()) < 10
    assert emulator.requests == ()
