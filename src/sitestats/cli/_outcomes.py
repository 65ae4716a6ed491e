"""Print the results of many websites, and count those that failed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import click

from ._exits import Code, code_of, one_line, tell_failures, worst
from ._output import print_csv, print_json, print_table, print_workbook
from ._queries import tables_of

if TYPE_CHECKING:
    from sitestats import Client, Outcome, Outcomes, SiteStatsError, StatsQuery
    from sitestats.analysis import Comparisons

    from ._queries import Row

_MOST_ENTRIES: Final = 10
"""The lines of a list in a table, unless there is a --limit."""
_BEFORE: Final = "first_day_before"
_HIDDEN: Final = frozenset(("start", "end", "error", "query", "timezone", "truncated"))
"""Columns that don't fit into a table."""
_IN_CSV: Final = frozenset(("timezone", "truncated"))

Found: TypeAlias = "Outcomes | Comparisons"


@attrs.frozen
class View:
    """How results are printed."""

    output: str
    table: Any
    """The list that has the rows; None for a row of totals each."""
    rows: int
    """The most lines of a list in a table."""

    @classmethod
    def of(cls, options: dict[str, Any]) -> View:
        """How results are printed; the options for it alone are removed."""
        rows = options["limit"] or _MOST_ENTRIES
        return cls(options.pop("output"), options.pop("table"), rows)

    def for_query(self, query: StatsQuery, *, is_one: bool) -> View:
        """This view with the one table that is printed, where one alone can be.

        Raises:
            UsageError: Several are requested, or another one.
        """
        tables = tables_of(query)
        known = ", ".join(tables)
        if self.table is not None and self.table not in tables:
            raise click.UsageError(
                f"--table {self.table}: not requested; requested are: {known}"
            )
        has_one = self.output == "csv" or (self.output == "table" and not is_one)
        if has_one and self.table is None and len(tables) > 1:
            raise click.UsageError(
                "CSV, or a table of many websites, has rows of one thing: add --table "
                f"with one of {known}"
            )
        table = self.table or next(iter(tables), None)
        return attrs.evolve(self, table=None if table == "totals" else table)


def print_rows(
    client: Client,
    rows: Sequence[Row],
    refused: Sequence[tuple[str, SiteStatsError]],
    view: View,
    *,
    concurrency: int,
) -> Code:
    """Print the results of all *rows*, and say why some failed.

    JSON lines are printed as the responses arrive; the other formats at the end.
    """
    size = len(rows[0]) if rows else 1
    is_stream, is_json = view.output == "jsonl", view.output.startswith("json")
    failed = [*refused]
    kept: list[Sequence[Outcome]] = []
    is_unread = False
    objects: list[object] = []
    show = partial(print_json, indent=None) if is_stream else objects.append
    with client.stats.get_many(
        [query for row in rows for query in row],
        concurrency=concurrency,
        in_order=True,
        # A progress bar in a terminal would be between the lines.
        progress=not (is_stream and sys.stdout.isatty()),
    ) as stream:
        for name, error in refused if is_json else ():
            show(_failure(name, {}, error))
        while row := [*islice(stream, size)]:
            is_unread |= any(one.stats and one.stats.problems for one in row)
            wrong = next((one for one in row if one.error is not None), None)
            if wrong is not None:
                failed.append((_described(wrong.query), wrong.error))
                if is_json:
                    params = wrong.query.params()
                    show(_failure(wrong.query.hostname, params, wrong.error))
            elif is_json:
                found: Any = _joined([row], size)
                show({**found[0].to_dict()})
            else:
                kept.append(row)
    if view.output == "json":
        print_json(objects)
    elif not is_json:
        _print(_joined(kept, size), view)
    tell_failures(failed, len(rows) + len(refused))
    codes = [code_of(error) for _, error in failed]
    codes += [Code.BAD_RESPONSE] * is_unread
    # The options are valid for the others, so the error is about this website.
    return worst(Code.GIVE_UP if code is Code.WRONG_USE else code for code in codes)


def _print(found: Found, view: View) -> None:
    if view.output == "xlsx":
        print_workbook(found)
    elif view.output == "csv":
        hidden = _HIDDEN - _IN_CSV
        columns = [name for name in found.columns(view.table) if name not in hidden]
        print_csv(columns, found.to_dicts(view.table))
    elif rows := found.to_dicts(view.table):
        _print_table(rows, view, getattr(found, "differs", ""))


def _joined(rows: Sequence[Sequence[Outcome]], size: int) -> Found:
    """The outcomes of *rows*; or the comparisons, where each has two."""
    from sitestats import Outcomes

    found = [Outcomes(column) for column in zip(*rows, strict=True)]
    found = found or [Outcomes([])] * size
    return found[0] if size == 1 else found[0].compare_to(found[1])


def _failure(
    hostname: str, params: Mapping[str, str], error: SiteStatsError
) -> dict[str, Any]:
    return {
        "hostname": hostname,
        "start": params.get("start"),
        "end": params.get("end"),
        "error": one_line(error),
        "status": getattr(error, "status", None),
    }


def _described(query: StatsQuery) -> str:
    params = query.params()
    days = [params[name] for name in ("start", "end") if name in params]
    return " ".join([query.hostname, " to ".join(dict.fromkeys(days))]).strip()


# --- tables -----------------------------------------------------------------------


def _print_table(rows: Sequence[Mapping[str, Any]], view: View, differs: str) -> None:
    parts = groupby(rows, itemgetter("query"))
    shown = [row for _, part in parts for row in islice(part, view.rows)]
    hidden = _HIDDEN | {"first_day", "last_day"}
    if _BEFORE in rows[0]:
        note = differs and f"; {differs}"
        click.echo(f"{_days(rows, '')}, against {_days(rows, '_before')}{note}")
        hidden |= {_BEFORE, "last_day_before", "differs"}
    elif len({(row["first_day"], row["last_day"]) for row in rows}) == 1:
        click.echo(_days(rows, ""))
    else:
        hidden = _HIDDEN
    headings = {
        name: _heading(name)
        for name in rows[0]
        if name not in hidden
        and not name.endswith("_change")
        # A column of flags is left out if all are false.
        and any(row[name] is not False for row in shown)
    }
    print_table(shown, headings)
    if (more := len(rows) - len(shown)) > 0:
        click.echo(f"  … {more:,} more")


def _days(rows: Sequence[Mapping[str, Any]], ending: str) -> str:
    """The days of all websites, whose zones may differ."""
    return (
        f"{min(str(row[f'first_day{ending}']) for row in rows)} to "
        f"{max(str(row[f'last_day{ending}']) for row in rows)}"
    )


def _heading(name: str) -> str:
    """The heading of a column; empty if it is the name's own."""
    if name.endswith("_percent"):
        return "%"
    if name.endswith("_before"):
        return "before"
    return "website" if name == "hostname" else ""
