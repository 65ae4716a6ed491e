"""Write website specifications as CSV, JSON or TOML, which ``load`` reads back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from sitestats._common.errors import SpecError
from sitestats._common.problems import Problem
from sitestats._common.text import as_cell_text, shown

from ._checks import FIELDS, FORMATS

if TYPE_CHECKING:
    from ._specs import WebsiteSpec

_RULE: Final = "website-file"


def dump_specs(specs: Iterable[WebsiteSpec], output_format: str) -> str:
    """*specs* as text of that format; see ``WebsiteSpec.dumps``."""
    rows = [{name: getattr(spec, name) for name in FIELDS} for spec in specs]
    match output_format:
        case "csv":
            return _csv(rows)
        case "json":
            return json.dumps([_given(row) for row in rows], indent=2) + "\n"
        case "toml":
            return "\n".join(map(_toml_table, rows)) if rows else "websites = []\n"
        case _:
            message = (
                f"output_format is one of {', '.join(FORMATS)}, not "
                f"{shown(output_format)}"
            )
            raise SpecError([Problem(message, rule=_RULE)])


def _given(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def _csv(rows: list[dict[str, Any]]) -> str:
    problems = [
        Problem(
            f"the label of {row['hostname']} can't be written as CSV, because it is "
            "empty or has a NUL character: write JSON or TOML",
            rule=_RULE,
        )
        for row in rows
        if (label := row["label"]) is not None and (not label or "\0" in label)
    ]
    if problems:
        raise SpecError(problems)
    lines = [FIELDS, *([_cell(row[name]) for name in FIELDS] for row in rows)]
    return "".join(",".join(line) + "\n" for line in lines)


def _cell(value: str | bool | None) -> str:  # noqa: FBT001 - a value to write
    if isinstance(value, bool) or value is None:
        return "" if value is None else str(value).lower()
    text = as_cell_text(value)
    # Readers drop blanks around a cell without quotes.
    if text == text.strip() and text.isprintable() and not set(text) & set(',;"'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _toml_table(row: dict[str, Any]) -> str:
    lines = (f"{name} = {_toml_value(value)}" for name, value in _given(row).items())
    return "\n".join(["[[websites]]", *lines]) + "\n"


def _toml_value(value: str | bool) -> str:  # noqa: FBT001 - a value to write
    # JSON's escapes are TOML's, which wants one for DEL too. Beyond ASCII, JSON writes
    # surrogate pairs, which TOML has not.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
