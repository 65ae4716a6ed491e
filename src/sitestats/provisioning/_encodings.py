"""Detect the encoding of a list of websites: UTF-8, UTF-16 with its mark, cp1252."""

from __future__ import annotations

import codecs
from typing import Final

_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
ZIP: Final = b"PK\x03\x04"
"""How a workbook of Excel begins."""


class EncodingError(ValueError):
    """The bytes are no text; ``before`` is the text in front of the first wrong one."""

    def __init__(self, message: str, before: str = "") -> None:
        super().__init__(message)
        self.before = before


def decode(data: bytes, *, guess: bool) -> tuple[str, list[str]]:
    """The text of *data*, and a note where it was not in UTF-8.

    Spreadsheets on Windows write cp1252, and say so nowhere. TOML and JSON are in
    UTF-8 by their definitions, so there nothing is to *guess*.

    Raises:
        EncodingError: It is no text, or in an encoding that can't be recognised.
    """
    text, notes = _decode(data, guess=guess)
    before, nul, _ = text.partition("\0")
    if nul:
        raise EncodingError(
            "the file has a NUL character, so it is no text, or in UTF-16 without "
            "its mark: save it as UTF-8",
            before,
        )
    return text, notes


def _decode(data: bytes, *, guess: bool) -> tuple[str, list[str]]:
    if data.startswith(_UTF_16):
        try:
            return data.decode("utf-16"), ["it is in UTF-16"]
        except UnicodeDecodeError as error:
            before = data[: error.start].decode("utf-16")
            raise EncodingError(
                "the file begins as UTF-16 and is not: save it as UTF-8", before
            ) from None
    try:
        # Spreadsheets and some editors begin with a byte order mark.
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        # What it counts in begins after the mark.
        wrong = error.object[error.start]
        before = error.object[: error.start].decode()
    # With characters of UTF-8 beside it, a wrong byte is damage.
    if guess and data.decode("utf-8", "ignore").isascii():
        try:
            note = (
                f"it is not in UTF-8 (byte 0x{wrong:02x}) and was read as cp1252, "
                "which Windows writes in Western Europe: look at its host names and "
                "labels, or save it as UTF-8"
            )
            return data.decode("cp1252"), [note]
        except UnicodeDecodeError:
            pass
    raise EncodingError(
        f"the file is not in UTF-8 (byte 0x{wrong:02x}): save it as UTF-8", before
    )
