"""Print results and other values: tables, JSON, CSV or a workbook (``--format``)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import attrs
import click

import sitestats
from sitestats import SiteStatsError, StatsQuery
from sitestats._base.text import csv_line, plain
from sitestats._query.builder import parameters_of

from ._exits import Code, code_of, in_shell_terms, one_line, tell_failures, worst
from ._options import format_option, in_output, into, is_raw

if TYPE_CHECKING:
    from rich.console import Console

    from sitestats.types import Comparison, Comparisons


def print_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Print *rows* below a line with the names of the *columns*.

    A text stays what it is, with a mark before what a spreadsheet would run as a
    formula, unless --raw is given: any visitor of a website can write one. In a
    terminal, what it would obey is shown as an escape.
    """
    marked, in_terminal = not is_raw(), sys.stdout.isatty()
    lines = [csv_line(columns, marked=marked)]
    for row in rows:
        values = [row.get(name) for name in columns]
        if in_terminal:
            values = [plain(one) if isinstance(one, str) else one for one in values]
        lines.append(csv_line(values, marked=marked))
    # Bytes are written, since Excel needs UTF-8 whatever the terminal's encoding is.
    click.echo("".join(lines).encode("utf-8", "backslashreplace"), nl=False)


def print_json(value: object, *, indent: int | None = 2) -> None:
    """Print *value* as JSON in ASCII, which every pipe can carry."""
    click.echo(json.dumps(value, indent=indent))


def print_workbook(result: Any) -> None:
    """Write *result* as a workbook, into a file or a pipe.

    Raises:
        UsageError: The output is a terminal.
    """
    if sys.stdout.isatty():
        raise click.UsageError("--format xlsx: write it to a file, by > report.xlsx")
    result.to_excel(sys.stdout.buffer)


def print_document(shown: Any, view: View) -> None:
    """Print a page of HTML, or Markdown."""
    from sitestats.analysis import Display, Page

    if view.output == "markdown":
        text = Display(shown, rows=view.rows).to_markdown()
    else:
        text = Page("Website statistics", shown, rows=view.rows).to_html()
    # Bytes are written, since a page is UTF-8 whatever the terminal's encoding is.
    click.echo(text.encode("utf-8"), nl=False)


def make_console() -> Console:
    """A rich console for tables; it wraps lines in a terminal alone."""
    # Rich is imported here, so that completion in a shell is fast.
    from rich.console import Console

    class TableConsole(Console):
        def on_broken_pipe(self) -> None:
            # Rich would end the process with 1, the code for a mistake of this package.
            raise BrokenPipeError

    # Programs that read a pipe expect whole lines.
    width = None if sys.stdout.isatty() else 1_000_000
    console = TableConsole(width=width, highlight=False, emoji=False, markup=False)
    # With COLUMNS=0, which some shells set, nothing would be printed.
    console.width = console.width or 80
    return console


def print_table(rows: Sequence[Mapping[str, Any]], headings: Mapping[str, str]) -> None:
    """Print *rows* as a table with *headings*; an empty one is the column's name."""
    from sitestats._display.console import table_of_rows

    console = make_console()
    console.print(*table_of_rows(rows, headings, console.width), sep="\n")


# --- results of many websites -------------------------------------------------------

DOCUMENTS: Final = frozenset(("html", "markdown"))
"""The formats of reports and mails."""
SHOWN: Final = DOCUMENTS | {"table"}
"""The formats for people, which shorten lists."""
_MOST_ENTRIES: Final = 10
"""The lines of a list in a table, unless there is a --limit."""
_HIDDEN: Final = frozenset(("error", "query"))
"""Columns that only frames have."""

Row: TypeAlias = "tuple[StatsQuery, ...]"
"""The query of a row, or two to compare."""
Rows: TypeAlias = "tuple[list[Row], list[tuple[str, SiteStatsError]], bool]"
"""The rows, the websites without a possible row, and whether some are unknown."""
Found: TypeAlias = "sitestats.Outcomes | Comparisons"


@attrs.frozen
class View:
    """How results are printed."""

    output: str
    table: Any
    """The list that has the rows; None means a row of totals for each result."""
    rows: int = _MOST_ENTRIES
    """The most lines of a list in a table."""

    def for_query(self, query: StatsQuery, *, is_one: bool) -> View:
        """This view with the one table that is printed, where one alone can be.

        Raises:
            UsageError: Several are requested, or another one.
        """
        parameters = parameters_of(query)
        has_totals = not {*parameters.fields} <= {*parameters.lists}
        tables = [*(["totals"] if has_totals else []), *parameters.lists]
        known = ", ".join(tables)
        has_one = self.output == "csv" or (self.output in SHOWN and not is_one)
        if self.table is not None and not has_one:
            raise click.UsageError(
                f"--table {self.table}: leave it out: only CSV, or a table of many "
                "websites, has one table of all that is requested"
            )
        if self.table is not None and self.table not in tables:
            raise click.UsageError(
                f"--table {self.table}: requested are {known}; --fields requests more"
            )
        if has_one and self.table is None and len(tables) > 1:
            raise click.UsageError(
                "CSV, or a table of many websites, has rows of one kind: add --table "
                f"with one of {known}"
            )
        table = self.table or next(iter(tables), None)
        rows = int(parameters.params.get("limit", _MOST_ENTRIES))
        return View(self.output, None if table == "totals" else table, rows)


view_options = into(
    "view",
    View,
    format_option("table", "json", "csv", "jsonl", "xlsx", "html", "markdown"),
    in_output(
        "--table NAME",
        "The table to print as CSV, or for many websites, if several are "
        "requested: totals, or a list such as pages.",
    ),
)


def print_rows(
    client: sitestats.Client,
    all_rows: Rows,
    view: View,
    *,
    concurrency: int,
) -> Code:
    """Print the results of all *rows*, and say why some failed.

    JSON lines are printed as the responses arrive; the other formats at the end.
    """
    rows, refused, is_unread = all_rows
    size = len(rows[0]) if rows else 1
    is_stream, is_json = view.output == "jsonl", view.output.startswith("json")
    failed = [*refused]
    kept: list[Sequence[sitestats.Outcome]] = []
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
            is_unread |= any(result.stats and result.stats.problems for result in row)
            wrong = next((result for result in row if result.error is not None), None)
            if wrong is not None:
                failed.append((_described(wrong.query), wrong.error))
                if is_json:
                    parameters = parameters_of(wrong.query)
                    about = {"path": parameters.path or "*", **parameters.params}
                    show(_failure(parameters.hostname, about, wrong.error))
            elif is_json:
                joined: Any = _joined([row], size)
                show(as_printed(joined[0]))
            else:
                kept.append(row)
    if view.output == "json":
        print_json(objects)
    elif not is_json:
        _print(_joined(kept, size), view)
    tell_failures(failed, len(rows) + len(refused), in_output=is_json)
    codes = [code_of(error) for _, error in failed]
    if is_unread:
        codes.append(Code.BAD_RESPONSE)
    # The options are valid for the others, so the error is about this website.
    return worst(Code.GIVE_UP if code is Code.WRONG_USE else code for code in codes)


def as_printed(
    result: sitestats.Stats | sitestats.Succeeded | Comparison,
) -> dict[str, Any]:
    """A result as JSON, or the rows of two that are compared."""
    match result:
        case sitestats.Stats():
            values = result.to_dict()
            # A shell knows its query.
            del values["query"]
            return values
        case sitestats.Succeeded():
            values = as_printed(result.stats)
            zone = values["timezone"] or result.query.params().get("timezone")
            return {**values, "hostname": result.query.hostname, "timezone": zone}
        case _:
            return result.rows()


def _print(joined: Found, view: View) -> None:
    if view.output == "xlsx":
        print_workbook(joined)
    elif view.output in DOCUMENTS:
        print_document(_document_of(joined, view), view)
    elif view.output == "csv":
        columns = [name for name in joined.columns(view.table) if name not in _HIDDEN]
        print_csv(columns, joined.to_dicts(view.table))
    elif rows := joined.to_dicts(view.table):
        _print_table(rows, view, getattr(joined, "differs", ""))


def _document_of(joined: Found, view: View) -> Any:
    """The outcomes as a notebook shows them; or the rows of a list, and of all totals
    that are compared.
    """
    if view.table is None and isinstance(joined, sitestats.Outcomes):
        return joined
    columns = [
        column
        for column in joined._table(view.table)  # noqa: SLF001 - of all results
        if column.name != "query" and _says_something(column.cells)
    ]
    return sitestats.types.Table(view.table or "totals", columns)


def _says_something(cells: Sequence[object]) -> bool:
    """Whether a column has more than no, nothing and empty texts; 0 is a number."""
    return not cells or any(one is not False and one not in {None, ""} for one in cells)


def _joined(rows: Sequence[Sequence[sitestats.Outcome]], size: int) -> Found:
    """The outcomes of *rows*; or the comparisons, where each has two."""
    periods = [sitestats.Outcomes(column) for column in zip(*rows, strict=True)]
    periods = periods or [sitestats.Outcomes([]) for _ in range(size)]
    return periods[0] if size == 1 else periods[0].compare_to(periods[1])


def _failure(
    hostname: str, about: Mapping[str, str], error: SiteStatsError
) -> dict[str, Any]:
    return {
        "hostname": hostname,
        "start": None,
        "end": None,
        **about,
        "error": one_line(in_shell_terms(error)),
        "status": getattr(error, "status_code", None),
    }


def _described(query: StatsQuery) -> str:
    """The website, the days and the filters of *query*."""
    page, params = parameters_of(query).path or "", query.params()
    ends = dict.fromkeys(params[name] for name in ("start", "end") if name in params)
    filters = [
        f"{name}={value}"
        for name, value in params.items()
        if name in sitestats.Filters.__annotations__ or name.startswith("metadata.")
    ]
    return " ".join(filter(None, (query.hostname + page, " to ".join(ends), *filters)))


# --- tables -----------------------------------------------------------------------

_HEADINGS: Final = {"hostname": "website", "percent": "%", "direction": "change"}


def _print_table(rows: Sequence[Mapping[str, Any]], view: View, differs: str) -> None:
    parts = groupby(rows, itemgetter("query"))
    shown = [row for _, part in parts for row in islice(part, view.rows)]
    hidden = _HIDDEN | {"timezone", "truncated"}
    if "start" in rows[0]:
        # It tells the two hours apart that have one name in autumn.
        hidden |= {"date", "hour", "date_before", "hour_before"}
    days = {"first_day", "last_day"}
    if "first_day_before" in rows[0]:
        note = differs and f"; {differs}"
        click.echo(f"{_days(rows, '')}, against {_days(rows, '_before')}{note}")
        hidden |= days | {"first_day_before", "last_day_before", "differs"}
    elif len({(row["first_day"], row["last_day"]) for row in rows}) == 1:
        click.echo(_days(rows, ""))
        hidden |= days
    headings = {
        # The last word of a name decides; without a heading the name is its own.
        name: _HEADINGS.get(name.rpartition("_")[2], "")
        for name in sorted(rows[0], key=lambda name: name not in {"hostname", "start"})
        if name not in hidden
        and not name.endswith("_change")
        and _says_something([row[name] for row in shown])
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
