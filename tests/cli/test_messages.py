"""Messages of the commands: options in place of Python, repeated errors as one."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sitestats
from sitestats import ConfigurationError, Problem, SiteStatsError, SpecError
from sitestats.cli._messages import STEPS, for_a_shell, messages_of

if TYPE_CHECKING:
    from conftest import Run
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
    "a comma": (["--where", "pages=/a,/b"], "repeat the option for several"),
    "a path": (["--path", "contact"], "is a text that starts with '/'"),
    "an empty name": (["--param", "=x"], "is a text that is not empty"),
    "days": (["--last", "0"], "is a whole number from 1 to"),
    "a limit": (["--limit", "0"], "is a whole number from 1 to"),
    "a version": (["--api-version", "9"], "is a whole number from 1 to"),
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
        (["API_KEY"], "an API key: set SITESTATS_API_KEY"),
        (["USER_ID"], "a user ID: set SITESTATS_USER_ID"),
        (
            ["API_KEY", "USER_ID"],
            "an API key and a user ID: set SITESTATS_API_KEY and SITESTATS_USER_ID",
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
        assert done.err == f"sitestats: this command needs {words}\n"
    assert emulator.requests == ()


FOLDERS = ("_common", "_query", "_protocol", "_results", "_transport", "provisioning")
IN_PYTHON_ALONE = {
    "_common/custom_headers.py": "headers= and user_agent=",
    "_common/progress.py": "progress=",
    "_results/sample_body.py": "Stats.of",
    "_transport/user_transport.py": "transport=",
}
"""Modules whose messages are about what no command has."""
NO_COMMAND = (
    "the body is made of dicts",
    "a parameter is a str with",
    "A host name is a str",
    "The base address is a str",
    "proxy is an address",
    "this client was pickled",
    "this client has ",
    "this client was closed",
    "there is no base address",
    "these outcomes were pickled",
    "the value is a str",
    "a field is named by a str",
    "an event is named by a str",
    "give the full address as a str",
    "a query is a StatsQuery",
    "output_format is one of",
    "websites are given as an iterable",
    "WebsiteSpec.load(path)",
    "write WebsiteSpec(",
    "8: A request's address",
)
"""Beginnings of messages about types and arguments that no command passes on."""


def texts_of(path: Path) -> Iterator[str]:
    """The texts of a module that are sentences, with … for what is filled in."""
    tree = ast.parse(path.read_text("utf-8"))
    left_out = {
        id(part)
        for node in ast.walk(tree)
        for part in (
            node.values
            if isinstance(node, ast.JoinedStr)
            # Documentation, of classes and of attributes.
            else [node.value]
            if isinstance(node, ast.Expr)
            # Types in quotes.
            else node.args[:1]
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "cast"
            else []
        )
    }
    for node in ast.walk(tree):
        if id(node) in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "…"
                for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_no_message_of_a_command_is_about_python() -> None:
    """Each message of the library that a command can print is in a shell's words."""
    package = Path(sitestats.__file__).parent
    found: list[str] = []
    for path in sorted(
        file for name in FOLDERS for file in (package / name).glob("*.py")
    ):
        if path.relative_to(package).as_posix() in IN_PYTHON_ALONE:
            continue
        for text in texts_of(path):
            (shown,) = messages_of(
                ConfigurationError(text)
                if path.name in {"settings.py", "hostnames.py"}
                else SiteStatsError(text)
            )
            is_sentence = len(text.split()) > 3 and not {"\n", "|"} & {*text}
            if is_sentence and PYTHON.search(shown) and not text.startswith(NO_COMMAND):
                found.append(f"{path.name}: {shown}")
    assert not found, "\n".join(found)


def test_every_step_that_an_error_advises_is_an_option() -> None:
    """No step of the query builder that a message names is unknown to the commands."""
    folder = Path(sitestats.__file__).parent / "_query"
    named = {
        step
        for path in folder.glob("*.py")
        if path.name != "repr.py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        # Docstrings, which have lines, have examples of Python.
        if "\n" not in node.value
        for step in re.findall(r"(?<![\w)])\.([a-z_]+)\(", node.value)
    }
    assert len(named) > 8
    # No command takes these: they split a period, or make dates of words.
    assert named - {"during", "pinned"} <= STEPS.keys()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("use .fields('pageviews', 'pages')", "use --field pageviews,pages"),
        (
            "add .fields('pageviews', …), .events('…')",
            "add --field pageviews,…, --event …",
        ),
        ("use .events('a', 'b')", "use --event a --event b"),
        ("use .between(…, …) or .last(days=…)", "use --start … --end … or --last …"),
        ("leave .path('/a (b)') out", "leave --path '/a (b)' out"),
        ("such as .unknown('x')", "such as .unknown('x')"),
    ],
)
def test_a_step_is_written_as_an_option(text: str, shown: str) -> None:
    """A step of the query builder becomes the option that does the same."""
    assert for_a_shell(text) == shown


def problem(line: int, message: str) -> Problem:
    """A problem of a file."""
    return Problem(message, rule="website-file", where=f"w.json:{line}:1")


def test_the_same_error_many_times_is_one_line() -> None:
    """Equal errors are one line with their number; two keep both places."""
    once, twice, often = "is wrong", "is bad", "is neither"
    error = SpecError(
        [
            problem(1, once),
            *(problem(line, twice) for line in (2, 3)),
            *(problem(line, often) for line in range(4, 504)),
        ]
    )
    assert list(messages_of(error)) == [
        "w.json:1:1: is wrong",
        "w.json:2:1: is bad (also at w.json:3:1)",
        "w.json:4:1: is neither (and 499 more, up to w.json:503:1)",
    ]


def test_errors_of_one_kind_are_counted_after_the_fifth() -> None:
    """Errors that differ in a value alone are shown five times, and then counted."""
    error = SpecError(
        [problem(line, f"'w{line}' has no name") for line in range(1, 3501)]
    )
    *shown, last = messages_of(error)
    assert shown == [f"w.json:{n}:1: 'w{n}' has no name" for n in range(1, 6)]
    assert last == "… and 3,495 more errors like this one, up to w.json:3500:1"
    five = SpecError(error.problems[:5])
    assert list(messages_of(five)) == shown


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
    assert "and 499 more" in done.err
    assert emulator.requests == ()
