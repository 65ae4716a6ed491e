"""Write website specifications as CSV, JSON or TOML, which ``load`` reads back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from sitestats._common.errors import SpecError
from sitestats._common.text import as_cell_text, csv_line, shown

from ._columns import SPEC_FIELDS
from ._csv import file_problem

Format: TypeAlias = Literal["toml", "json", "csv"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
"""The formats in which lists are written."""

_ACCEPT: Final = "accept_differing"


def dump_rows(rows: Sequence[dict[str, Any]], output_format: str) -> str:
    """The fields of specifications as text; see ``WebsiteSpec.dumps``."""
    given = [
        {
            name: row[name]
            for name in SPEC_FIELDS
            # What is not accepted is the rule, and left out.
            if row[name] is not None and (row[name] or name != _ACCEPT)
        }
        for row in rows
    ]
    match output_format:
        case "csv":
            return _csv(given)
        case "json":
            return json.dumps(given, indent=2) + "\n"
        case "toml":
            return "\n".join(map(_toml_table, given))
        case _:
            message = (
                f"output_format is one of {', '.join(FORMATS)}, not "
                f"{shown(output_format)}"
            )
            raise SpecError([file_problem(message)])


def _csv(rows: list[dict[str, Any]]) -> str:
    problems = [
        file_problem(
            f"the label of {row['hostname']} can't be written as CSV, because it is "
            "empty or has a NUL character: write JSON or TOML"
        )
        for row in rows
        if not (label := row.get("label", "-")) or "\0" in label
    ]
    if problems:
        raise SpecError(problems)
    is_used = any(_ACCEPT in row for row in rows)
    names: Sequence[str] = [name for name in SPEC_FIELDS if is_used or name != _ACCEPT]
    lines = [[_marked(row.get(name)) for name in names] for row in rows]
    return "".join(map(csv_line, [names, *lines]))


def _marked(value: str | bool | None) -> str | bool | None:  # noqa: FBT001 - a value to write
    return as_cell_text(value) if isinstance(value, str) else value


def _toml_table(row: dict[str, Any]) -> str:
    # JSON's escapes are TOML's, which wants one for DEL too. Beyond ASCII, JSON writes
    # surrogate pairs, which TOML has not.
    texts = {
        name: json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        for name, value in row.items()
    }
    lines = [f"{name} = {text}" for name, text in texts.items()]
    return "\n".join(["[[websites]]", *lines]) + "\n"
