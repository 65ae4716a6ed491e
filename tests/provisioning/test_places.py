"""Finding where values stand in TOML and JSON, held against real parsers."""

from __future__ import annotations

import json
import pathlib
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitestats.provisioning._places import Path, json_places, toml_places

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


@given(value=values, indent=st.none() | st.integers(0, 2), ascii_only=st.booleans())
def test_every_value_of_json_is_found(
    *, value: object, indent: int | None, ascii_only: bool
) -> None:
    """From each place that is found a parser reads the value of that path."""
    text = "\n " + json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    places = json_places(text)
    expected = paths(value)
    assert places.values.keys() == expected.keys()
    decoder = json.JSONDecoder()
    for path, at in places.values.items():
        assert decoder.raw_decode(text, at)[0] == expected[path]
    for path, at in places.keys.items():
        assert decoder.raw_decode(text, at)[0] == path[-1]


def test_keys_given_twice_are_found() -> None:
    """JSON allows a key twice, and the second one is told."""
    places = json_places('[{"a": 1, "b": 2, "a": 3}]')
    assert places.repeated == [((0, "a"), 18)]


SAMPLE = pathlib.Path(__file__).with_name("places.toml")


def test_every_value_of_toml_is_found() -> None:
    """From each place that is found a parser reads the value of that path."""
    text = SAMPLE.read_text(encoding="utf-8")
    tree = tomllib.loads(text)
    places = toml_places(text)
    headers = 0
    for path, value in paths(tree).items():
        if path not in places.values:
            # A list that headers make, or a table that a dotted key makes, has
            # no place of its own.
            assert isinstance(value, (dict, list))
            continue
        at = places.values[path]
        if text[at] == "[" and (at == 0 or text[:at].rstrip(" ").endswith("\n")):
            headers += 1
            continue
        assert value in read_prefixes(text[at:]), path
    assert headers == 6
    assert places.values["websites", 1, "list", "inner", 1, "z"] == text.rindex("true")
    assert places.keys["websites", 0, "hostname"] == text.index("hostname")


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
def test_strings_of_toml_hide_what_they_hold(
    strings: list[tuple[str, Callable[[str], str], Callable[[str], str]]],
) -> None:
    """Quotes, brackets and hashes within strings never move a place."""
    text = "list = [ " + ", # ]\n".join(s(v) for v, s, _ in strings) + "\n]\n"
    for index, (value, _, style) in enumerate(strings):
        text += f"[[t]]\n  {quoted(value)} = {style(value)} # {index} ]\n"
    assert tomllib.loads(text)["list"] == [value for value, _, _ in strings]
    places = toml_places(text)
    for index, (value, in_list, style) in enumerate(strings):
        assert text.startswith(in_list(value), places.values["list", index])
        assert text.startswith(style(value), places.values["t", index, value])


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "a=1"])
def test_short_texts_of_toml(text: str) -> None:
    """A text without a line end, or without anything, is walked to its end."""
    assert set(toml_places(text).values) == set(paths(tomllib.loads(text))) - {()}
