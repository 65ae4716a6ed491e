"""Find the position of each key and value in TOML or JSON text.

The parsers of the standard library give the values without their positions. They
run first, so this scanner gets valid text only: it finds where keys and values
begin, and checks nothing.
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
STRING: Final = (
    r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*'{3,5}"
    r'|"(?:[^"\\]|\\.)*"'
    r"|'[^']*'"
)
_STRING: Final = re.compile(STRING)
# A number, a word or a date, which may have a space in it.
_OTHER: Final = re.compile(r"[^,\]}#\r\n]+")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


@attrs.frozen
class Positions:
    """The offsets of keys and values in a text."""

    keys: dict[Path, int] = attrs.field(factory=dict[Path, int])
    values: dict[Path, int] = attrs.field(factory=dict[Path, int])
    duplicate_keys: list[tuple[Path, int]] = attrs.field(factory=list[tuple[Path, int]])
    """Keys that their object already has: JSON allows them, and the last one wins."""


def json_positions(text: str) -> Positions:
    """Find every key and value of *text*, which is valid JSON."""
    scanner = _Scanner(text, _BLANK, separator=":")
    scanner.skip_blank()
    scanner.read_value(())
    return scanner.positions


def toml_positions(text: str) -> Positions:
    """Find every key, value and table of *text*, which is valid TOML."""
    scanner = _Scanner(text, _BLANK_OR_COMMENT, separator="=")
    scanner.read_document()
    return scanner.positions


class _Scanner:
    def __init__(self, text: str, blank: re.Pattern[str], separator: str) -> None:
        self.positions = Positions()
        self._text = text
        self._blank = blank
        self._separator = separator
        self._offset = 0

    def skip_blank(self) -> None:
        self._take(self._blank)

    def read_value(self, path: Path) -> None:
        self.positions.values[path] = self._offset
        if self._skip("["):
            self._read_items(path)
        elif self._skip("{"):
            self._read_pairs(path)
        elif self._text[self._offset] in "\"'":
            self._take(_STRING)
        else:
            self._take(_OTHER)

    def read_document(self) -> None:
        table: Path = ()
        counts: dict[Path, int] = {}
        self.skip_blank()
        while self._offset < len(self._text):
            start = self._offset
            if self._skip("["):
                many = self._skip("[")
                table = self._read_header(counts, many=many)
                self.positions.values.setdefault(table, start)
            else:
                self._read_pair(table)
            self.skip_blank()

    def _read_items(self, path: Path) -> None:
        index = 0
        self.skip_blank()
        while not self._skip("]"):
            self.read_value((*path, index))
            index += 1
            self.skip_blank()
            self._skip(",")
            self.skip_blank()

    def _read_pairs(self, path: Path) -> None:
        self.skip_blank()
        while not self._skip("}"):
            self._read_pair(path)
            self.skip_blank()
            self._skip(",")
            self.skip_blank()

    def _read_pair(self, path: Path) -> None:
        start = self._offset
        whole = (*path, *self._read_key())
        if whole in self.positions.keys:
            self.positions.duplicate_keys.append((whole, start))
        self.positions.keys[whole] = start
        self._skip(self._separator)
        self.skip_blank()
        self.read_value(whole)

    def _read_key(self) -> Path:
        parts = [self._read_name()]
        while self._skip("."):
            self.skip_blank()
            parts.append(self._read_name())
        return tuple(parts)

    def _read_name(self) -> str:
        """Read one part of a dotted key, and the blanks after it."""
        if self._text[self._offset] in "\"'":
            literal = self._take(_STRING)
            name = (
                str(json.loads(literal))
                if self._separator == ":"
                else next(iter(tomllib.loads(f"{literal} = 0")))
            )
        else:
            name = self._take(_BARE_KEY)
        self.skip_blank()
        return name

    def _read_header(self, counts: dict[Path, int], *, many: bool) -> Path:
        """The path of ``[a.b]`` or, with *many*, of the next ``[[a.b]]``."""
        self.skip_blank()
        start = self._offset
        parts = self._read_key()
        path: Path = ()
        for count, part in enumerate(parts, start=1):
            path = (*path, part)
            self.positions.keys.setdefault(path, start)
            if many and count == len(parts):
                counts[path] = counts.get(path, 0) + 1
            if path in counts:
                path = (*path, counts[path] - 1)
        self._skip("]")
        self._skip("]")
        return path

    def _skip(self, mark: str) -> bool:
        if self._text.startswith(mark, self._offset):
            self._offset += len(mark)
            return True
        return False

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._offset)
        assert match is not None, "the text is not valid, or the scanner misses a rule"
        self._offset = match.end()
        return match[0]
