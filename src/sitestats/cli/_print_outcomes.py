"""Print the results of many websites as they arrive, and count those that failed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

import attrs
import click

from sitestats._common.text import csv_line

from ._advice import in_a_shell
from ._exits import Code, code_of, exit_with, one_line
from ._output import (
    JSON_LINES,
    XLSX,
    CsvStyle,
    csv_style,
    make_console,
    print_json,
    print_json_line,
    print_workbook,
    safe,
)

if TYPE_CHECKING:
    from sitestats import Failed, Outcome, Outcomes, SiteStatsError, StatsQuery
    from sitestats.analysis import Comparisons

    from ._hosts import WebsiteQueries

_NOT_PRINTED: Final = frozenset(("start", "end", "error", "query"))
"""Columns of a frame that a stream of results has no need of."""
_NOT_IN_TABLES: Final = frozenset(("timezone", "truncated"))
"""Columns that a table for people has no room for."""
_MOST_OF_A_KIND: Final = 5

Found: TypeAlias = "Outcomes | Comparisons"
"""What came of the queries of one row: one outcome, or two that are compared."""


@attrs.frozen
class PrintOptions:
    """How the results are printed."""

    output: str
    style: CsvStyle
    top: int
    table: Any
    """The list that has the rows; None for a row of totals each."""
    errors: TextIO | None
    """Gets a line of CSV for what fails."""

    def with_table_of(self, lists: Sequence[str], *, is_one: bool) -> PrintOptions:
        """These options with the one of the *lists* that is printed, if any.

        Raises:
            UsageError: There are several, or the table is none of them.
        """
        is_needed = self.output == "csv" or (self.output == "table" and not is_one)
        if self.table is None and is_needed and len(lists) > 1:
            raise click.UsageError(
                "--format csv, or a table of many websites, has one list: add --table "
                f"with one of {', '.join(lists)}"
            )
        if self.table is not None and self.table not in lists:
            raise click.UsageError(
                f"--table {self.table}: not requested; requested are: "
                f"{', '.join(lists) or 'no lists'}"
            )
        first = next(iter(lists), None) if is_needed else None
        return attrs.evolve(self, table=self.table or first)


def print_options_of(options: dict[str, Any]) -> PrintOptions:
    """How results are printed; the options are removed."""
    style = csv_style(options)
    names = ("output", "top", "table", "errors")
    output, top, table, errors = (options.pop(name) for name in names)
    return PrintOptions(output, style, top, table, errors)


def print_outcomes(
    websites: WebsiteQueries,
    options: PrintOptions,
    queries: Callable[[], Iterable[StatsQuery]],
    found_in: Callable[[Sequence[Outcome]], Found],
    *,
    size: int = 1,
) -> None:
    """Print the results of all websites, and exit with a code if some failed.

    Args:
        websites: Whose.
        options: How.
        queries: Makes the queries of the websites.
        found_in: What to print of the outcomes, of a row or of all.
        size: How many queries a row has.
    """
    if options.output == XLSX and websites.labels is not None:
        raise click.UsageError("--with label: not with --format xlsx")
    printer, failures, total = Printer(options, websites.labels), Failures(), 0
    # In a terminal a bar would be between the rows.
    is_between = printer.is_stream and sys.stdout.isatty() and sys.stderr.isatty()
    outcomes: list[Outcome] = []
    found = found_in(outcomes)
    try:
        with (
            websites.client as client,
            client.stats.get_many(
                queries(),
                concurrency=websites.concurrency,
                in_order=True,
                progress=not is_between,
            ) as stream,
        ):
            for name, error in websites.refused.items():
                total += 1
                failures.add_refused(name, error)
                printer.show_failure(_failure(name, {}, error))
            while of_row := [*islice(stream, size)]:
                total += 1
                found = found_in(of_row)
                if options.output == XLSX:
                    outcomes += of_row
                if found.failed:
                    failures.add(found.failed)
                    one = found.failed[0]
                    host, params = one.query.hostname, one.query.params()
                    printer.show_failure(_failure(host, params, one.error))
                else:
                    printer.show(found)
        printer.end(found_in(outcomes) if outcomes else found)
    except KeyboardInterrupt:
        failures.report(total)
        raise
    exit_with(failures.report(total))


# --- formats ----------------------------------------------------------------------


@attrs.define
class Printer:
    """Prints one result after the other, or all of them at the end."""

    _options: PrintOptions
    _labels: Mapping[str, str | None] | None
    _names: Sequence[str] = ()
    """The names of the columns, once there was a result."""
    _collected: list[Mapping[str, Any]] = attrs.field(factory=list[Mapping[str, Any]])
    """What is printed at the end: objects, or the rows of a table."""

    @property
    def is_stream(self) -> bool:
        """Whether it prints each result when it arrives."""
        return self._options.output in {"csv", JSON_LINES}

    def show(self, found: Found) -> None:
        """Print one result, or collect it for the end."""
        options = self._options
        match options.output:
            case "csv":
                is_first = not self._names
                self._names = self._names or self._columns(found)
                options.style.write(self._names, self._rows(found), names=is_first)
            case "table":
                self._names = self._names or self._columns(found)
                self._collected += self._rows(found)[: options.top]
            case "json" | "jsonl":
                from sitestats import Outcomes

                for one in found.succeeded if isinstance(found, Outcomes) else found:
                    self._show_object(self._with_label(one.to_dict()))
            case _:
                pass

    def show_failure(self, failure: Mapping[str, Any]) -> None:
        """Print what failed, with its error and status, where it has a place."""
        if (file := self._options.errors) is not None:
            header = csv_line([] if file.tell() else failure)
            file.write(header.lstrip() + csv_line(map(safe, failure.values())))
        if self._options.output in {"json", JSON_LINES}:
            self._show_object(failure)

    def end(self, found: Found) -> None:
        """Print what was collected, or all that was *found* as a workbook."""
        match self._options.output:
            case "json":
                print_json(self._collected)
            case "xlsx":
                print_workbook(found)
            case "csv" if not self._names:
                self._options.style.write(self._columns(found), ())
            case "table" if self._collected:
                self._print_table()
            case _:
                pass

    def _show_object(self, one: Mapping[str, Any]) -> None:
        if self._options.output == JSON_LINES:
            print_json_line(one)
        else:
            self._collected.append(one)

    def _columns(self, found: Found) -> list[str]:
        names = [*found.columns(self._options.table)]
        if self._labels is not None:
            names = ["hostname", "label", *names]
        return [name for name in dict.fromkeys(names) if name not in _NOT_PRINTED]

    def _rows(self, found: Found) -> list[Mapping[str, Any]]:
        return [self._with_label(row) for row in found.to_dicts(self._options.table)]

    def _with_label(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        labels = self._labels
        return row if labels is None else {**row, "label": labels.get(row["hostname"])}

    def _print_table(self) -> None:
        from sitestats.analysis._console import table_of_rows

        console = make_console()
        if _BEFORE in self._names:
            console.print(self._periods())
        headings = {name: _heading(name) for name in self._names if self._shows(name)}
        table = table_of_rows(self._collected, headings)
        table.columns[0].no_wrap = True
        console.print(table)

    def _shows(self, name: str) -> bool:
        if name in _NOT_IN_TABLES or name.endswith("_change"):
            return False
        if _BEFORE in self._names:
            hidden = ("first_day", "last_day", "visitors", "direction")
            is_list = "value" in self._names
            if name.startswith(hidden if is_list else hidden[:2]):
                return False
        # A flag that is raised nowhere says nothing.
        return any(row[name] is not False for row in self._collected)

    def _periods(self) -> str:
        """The days that are compared, of all websites, whose zones may differ."""

        def days(ending: str) -> str:
            first, last = (
                choose(str(row[name + ending]) for row in self._collected)
                for choose, name in ((min, "first_day"), (max, "last_day"))
            )
            return f"{first} to {last}"

        return f"{days('')}, against {days('_before')}"


_BEFORE: Final = "first_day_before"


def _heading(name: str) -> str:
    """The heading of a column; empty where it is that of the name itself."""
    if name.endswith("_percent"):
        return "%"
    if name.endswith("_before"):
        return "before"
    return "website" if name == "hostname" else ""


# --- failures ---------------------------------------------------------------------


class Failures:
    """What failed: a line for each, and a count where many are of one kind."""

    def __init__(self) -> None:
        self._failed = 0
        self._codes: set[Code] = set()
        self._of_kind: dict[object, list[tuple[str, str]]] = {}
        """Whose days are missing, and why."""

    def add(self, failed: Iterable[Failed]) -> None:
        """Count a row that is missing, with why.

        Raises:
            SiteStatsError: It is a mistake of the query or of the settings, which is
                the same for all of them.
        """
        from sitestats import ConfigurationError, InvalidInputError

        self._failed += 1
        for one in failed:
            if isinstance(one.error, (ConfigurationError, InvalidInputError)):
                raise one.error
            self._add(_described(one.query), one.error, code_of(one.error))

    def add_refused(self, name: str, error: SiteStatsError) -> None:
        """Count a listed website of which no query is possible, with why."""
        self._failed += 1
        self._add(name, error, Code.ERROR_RESPONSE)

    def _add(self, where: str, error: SiteStatsError, code: Code) -> None:
        self._codes.add(code)
        kind = type(error), getattr(error, "status", None)
        why = " ".join(in_a_shell(error).splitlines())
        self._of_kind.setdefault(kind, []).append((where, why))

    def report(self, total: int) -> Code:
        """Print the lines; the value says whether to try later helps one of them."""
        for failed in self._of_kind.values():
            for where, why in failed[:_MOST_OF_A_KIND]:
                _echo(f"{where}: {why}")
            if (more := len(failed) - _MOST_OF_A_KIND) > 0:
                _echo(f"… and {more:,} more like this one, up to {failed[-1][0]}")
        if self._failed:
            _echo(f"{self._failed:,} of {total:,} failed")
        codes = sorted(self._codes, key=lambda code: code is not Code.TRY_LATER)
        return next(iter(codes), Code.OK)


def _echo(line: str) -> None:
    click.echo(f"sitestats: {one_line(line)}", err=True)


def _failure(
    hostname: str, params: Mapping[str, str], error: SiteStatsError
) -> dict[str, Any]:
    """What failed as an object: for whom, which days, why, and the status."""
    return {
        "hostname": hostname,
        "start": params.get("start"),
        "end": params.get("end"),
        "error": " ".join(in_a_shell(error).splitlines()),
        "status": getattr(error, "status", None),
    }


def _described(query: StatsQuery) -> str:
    params = query.params()
    days = [params[name] for name in ("start", "end") if name in params]
    return " ".join([query.hostname, " to ".join(dict.fromkeys(days))]).strip()
