"""Where each value of a TOML or JSON text stands, for errors that point at it.

The parsers of the standard library give the values alone. They run first: what
is walked through here is known to be valid, so this only finds where things
begin and end, and understands no more of them than that.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Final, TypeAlias

import attrs

Path: TypeAlias = tuple[str | int, ...]
"""The keys and indexes that lead to a value: ``("websites", 3, "hostname")``."""

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_BLANK_OR_COMMENT: Final = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
# The longer quotes first; two quotes may stand within three, also at the end.
_STRING: Final = re.compile(
    r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'"
)
# A number, a word or a date, which may have a space in it.
_OTHER: Final = re.compile(r"[^,\]}#\r\n]+")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@attrs.frozen
class Places:
    """Offsets into a text."""

    keys: dict[Path, int] = attrs.field(factory=dict[Path, int])
    values: dict[Path, int] = attrs.field(factory=dict[Path, int])
    repeated: list[tuple[Path, int]] = attrs.field(factory=list[tuple[Path, int]])
    """Keys that their object has already: JSON allows them, and the last wins."""


def json_places(text: str) -> Places:
    """Find every key and value of *text*, which is valid JSON."""
    scanner = _Scanner(text, _BLANK, separator=":")
    scanner.blank()
    scanner.value(())
    return scanner.places


def toml_places(text: str) -> Places:
    """Find every key, value and table of *text*, which is valid TOML."""
    scanner = _Scanner(text, _BLANK_OR_COMMENT, separator="=")
    scanner.document()
    return scanner.places


class _Scanner:
    def __init__(self, text: str, blank: re.Pattern[str], separator: str) -> None:
        self.places = Places()
        self._text = text
        self._blank = blank
        self._separator = separator
        self._at = 0

    def blank(self) -> None:
        self._take(self._blank)

    def value(self, path: Path) -> None:
        self.places.values[path] = self._at
        if self._skip("["):
            self._items(path)
        elif self._skip("{"):
            self._pairs(path)
        elif self._text[self._at] in "\"'":
            self._take(_STRING)
        else:
            self._take(_OTHER)

    def document(self) -> None:
        table: Path = ()
        counts: dict[Path, int] = {}
        self.blank()
        while self._at < len(self._text):
            start = self._at
            if self._skip("["):
                many = self._skip("[")
                table = self._header(counts, many=many)
                self.places.values.setdefault(table, start)
            else:
                self._pair(table)
            self.blank()

    def _items(self, path: Path) -> None:
        index = 0
        self.blank()
        while not self._skip("]"):
            self.value((*path, index))
            index += 1
            self.blank()
            self._skip(",")
            self.blank()

    def _pairs(self, path: Path) -> None:
        self.blank()
        while not self._skip("}"):
            self._pair(path)
            self.blank()
            self._skip(",")
            self.blank()

    def _pair(self, path: Path) -> None:
        start = self._at
        whole = (*path, *self._key())
        if whole in self.places.keys:
            self.places.repeated.append((whole, start))
        self.places.keys[whole] = start
        self._skip(self._separator)
        self.blank()
        self.value(whole)

    def _key(self) -> Path:
        parts = [self._name()]
        while self._skip("."):
            self.blank()
            parts.append(self._name())
        return tuple(parts)

    def _name(self) -> str:
        """One name of a key, and the blank behind it."""
        if self._text[self._at] in "\"'":
            literal = self._take(_STRING)
            name = (
                str(json.loads(literal))
                if self._separator == ":"
                else next(iter(tomllib.loads(f"{literal} = 0")))
            )
        else:
            name = self._take(_BARE_KEY)
        self.blank()
        return name

    def _header(self, counts: dict[Path, int], *, many: bool) -> Path:
        """The path of ``[a.b]`` or, with *many*, of the next ``[[a.b]]``."""
        self.blank()
        start = self._at
        parts = self._key()
        path: Path = ()
        for position, part in enumerate(parts, start=1):
            path = (*path, part)
            self.places.keys.setdefault(path, start)
            if many and position == len(parts):
                counts[path] = counts.get(path, 0) + 1
            if path in counts:
                path = (*path, counts[path] - 1)
        self._skip("]")
        self._skip("]")
        return path

    def _skip(self, mark: str) -> bool:
        if self._text.startswith(mark, self._at):
            self._at += len(mark)
            return True
        return False

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        assert match is not None, "the text is not valid, or a rule of it is missing"
        self._at = match.end()
        return match[0]
