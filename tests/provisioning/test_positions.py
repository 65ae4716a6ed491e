"""Positions of keys and values in TOML and JSON, compared with real parsers."""

from __future__ import annotations

import json
import pathlib
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats.provisioning._positions import Path, json_positions, toml_positions

pytestmark = pytest.mark.standard_library


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def paths(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Every value within *value* by its path."""
    found: dict[Path, Any] = {path: value}
    if isinstance(value, dict):
        for key, inner in value.items():
            found |= paths(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            found |= paths(inner, (*path, index))
    return found


@given(
    value=values,
    indent=st.none() | st.integers(0, 2),
    ascii_only=st.booleans(),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" , ", "\t:\n")]),
)
def test_every_value_of_json_is_found(
    *, value: object, indent: int | None, ascii_only: bool, separators: tuple[str, str]
) -> None:
    """The position of each key and value in a JSON file is the right one."""
    text = "\n " + json.dumps(
        value, indent=indent, ensure_ascii=ascii_only, separators=separators
    )
    positions = json_positions(text)
    expected = paths(value)
    assert positions.values.keys() == expected.keys()
    decoder = json.JSONDecoder()
    for path, at in positions.values.items():
        assert decoder.raw_decode(text, at)[0] == expected[path]
    for path, at in positions.keys.items():
        assert decoder.raw_decode(text, at)[0] == path[-1]


def test_keys_given_twice_are_found() -> None:
    """A duplicate JSON key is reported, since its first value would be lost."""
    positions = json_positions('[{"a": 1, "b": 2, "a": 3}]')
    assert positions.duplicate_keys == [((0, "a"), 18)]


SAMPLE = pathlib.Path(__file__).with_name("positions.toml")


def test_every_value_of_toml_is_found() -> None:
    """The position of each key and value in a TOML file is the right one."""
    text = SAMPLE.read_text(encoding="utf-8")
    tree = tomllib.loads(text)
    positions = toml_positions(text)
    headers = 0
    for path, value in paths(tree).items():
        if path not in positions.values:
            # A list that headers make, or a table that a dotted key makes, has
            # no position of its own.
            assert isinstance(value, (dict, list))
            continue
        at = positions.values[path]
        if text[at] == "[" and (at == 0 or text[:at].rstrip(" ").endswith("\n")):
            headers += 1
            continue
        assert value in read_prefixes(text[at:]), path
    assert headers == 6
    assert positions.values["websites", 1, "list", "inner", 1, "z"] == text.rindex(
        "true"
    )
    assert positions.keys["websites", 0, "hostname"] == text.index("hostname")


def read_prefixes(text: str) -> list[object]:
    """Every value that TOML reads from the beginning of *text*."""
    found: list[object] = []
    for end in range(1, len(text) + 1):
        try:
            found.append(tomllib.loads(f"v = {text[:end]}")["v"])
        except tomllib.TOMLDecodeError:
            continue
    return found


def quoted(text: str) -> str:
    """*text* as a basic string of TOML."""
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


def triple(text: str) -> str:
    """*text* as a string of several lines, with as few escapes as there may be."""
    escaped = text.replace("\\", "\\\\").replace('"""', '""\\"')
    if escaped.endswith('"'):
        escaped = escaped[:-1] + '\\"'
    return f'"""\n{escaped}"""'


plain = st.text(st.sampled_from("ab #[]{}=,.'\"\\é\n\t"))
styles: st.SearchStrategy[Callable[[str], str]] = st.sampled_from([quoted, triple])


@given(st.lists(st.tuples(plain, styles, styles), min_size=1))
def test_strings_of_toml_may_hold_any_syntax(
    strings: list[tuple[str, Callable[[str], str], Callable[[str], str]]],
) -> None:
    """A quote, bracket or hash in a string does not shift later positions."""
    text = "list = [ " + ", # ]\n".join(s(v) for v, s, _ in strings) + "\n]\n"
    for index, (value, _, style) in enumerate(strings):
        text += f"[[t]]\n  {quoted(value)} = {style(value)} # {index} ]\n"
    assert tomllib.loads(text)["list"] == [value for value, _, _ in strings]
    positions = toml_positions(text)
    for index, (value, in_list, style) in enumerate(strings):
        assert text.startswith(in_list(value), positions.values["list", index])
        assert text.startswith(style(value), positions.values["t", index, value])


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "a=1"])
def test_short_texts_of_toml(text: str) -> None:
    """A TOML file without a final line end is scanned to its end."""
    assert set(toml_positions(text).values) == set(paths(tomllib.loads(text))) - {()}
