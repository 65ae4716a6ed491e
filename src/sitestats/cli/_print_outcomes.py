"""Print the results of many websites as they arrive, and count those that failed."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO, TypeAlias

import attrs
import click

from sitestats._common.text import csv_line

from ._advice import messages_of
from ._exits import Code, code_of, one_line
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
    from sitestats import (
        Failed,
        Outcome,
        Outcomes,
        QueryError,
        SiteStatsError,
        StatsQuery,
    )
    from sitestats.analysis import Comparisons

    from ._hosts import Websites

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
    whole: Callable[[], Any] = lambda: None
    """Gives all results for a format that is written at once, else what is printed
    without a website."""
    labels: Mapping[str, str | None] | None = None


def print_options_of(options: dict[str, Any]) -> PrintOptions:
    """How results are printed; the options are removed."""
    style = csv_style(options)
    names = ("output", "top", "table", "errors")
    output, top, table, errors = (options.pop(name) for name in names)
    return PrintOptions(output, style, top, table, errors)


def print_outcomes(
    websites: Websites,
    options: PrintOptions,
    queries: Callable[[Iterable[StatsQuery]], Iterable[StatsQuery]],
    read: Callable[[Iterator[Outcome]], Iterator[Found]],
) -> None:
    """Print the results of all websites, and exit with a code if some failed.

    Args:
        websites: Whose.
        options: How.
        queries: The queries for those of the websites.
        read: What to print of the outcomes, one by one.
    """
    if options.output == XLSX and websites.labels is not None:
        raise click.UsageError("--with label: not with --format xlsx")
    options = attrs.evolve(options, labels=websites.labels)
    printer, failures, total = printer_of(options), Failures(), 0
    found = options.whole()
    # In a terminal a bar would be between the rows.
    is_between = printer.is_stream and sys.stdout.isatty() and sys.stderr.isatty()
    try:
        with (
            websites.client as client,
            client.stats.get_many(
                queries(websites.queries()),
                concurrency=websites.concurrency,
                in_order=True,
                progress=not is_between,
            ) as stream,
        ):
            for name, error in websites.refused.items():
                total += 1
                failures.add_refused(name, error)
                printer.show_failure(_failure(name, {}, error))
            for found in read(stream):
                total += 1
                if found.failed:
                    failures.add(found.failed)
                    one = found.failed[0]
                    params = one.query.params()
                    printer.show_failure(
                        _failure(one.query.hostname, params, one.error)
                    )
                else:
                    printer.show(found)
        printer.end(found)
    except KeyboardInterrupt:
        failures.report(total)
        raise
    if (code := failures.report(total)) is not Code.OK:
        raise click.exceptions.Exit(code)


# --- formats ----------------------------------------------------------------------


def printer_of(options: PrintOptions) -> Printer:
    """What prints results in that format."""
    printers: dict[str, type[Printer]] = {
        "csv": _Csv,
        "json": _Json,
        JSON_LINES: _JsonLines,
        "table": _Table,
        XLSX: _Workbook,
    }
    return printers[options.output](options)


class Printer(ABC):
    """Prints one result after the other."""

    is_stream = True
    """Whether it prints each result when it arrives."""

    def __init__(self, options: PrintOptions) -> None:
        self._options = options

    @abstractmethod
    def show(self, found: Found) -> None:
        """Print one result, or keep it for the end."""

    def show_failure(self, failure: Mapping[str, Any]) -> None:
        """Print what failed, with its error and status, into the file for it."""
        if (file := self._options.errors) is not None:
            header = csv_line([] if file.tell() else failure)
            file.write(header.lstrip() + csv_line(map(safe, failure.values())))

    def end(self, last: Found) -> None:  # noqa: B027 - a stream keeps nothing
        """Print what was kept; *last* is what was read last, which may have failed."""

    def _columns(self, found: Found) -> list[str]:
        names = [*found.columns(self._options.table)]
        if self._options.labels is not None:
            names = ["hostname", "label", *names]
        return [name for name in dict.fromkeys(names) if name not in _NOT_PRINTED]

    def _rows(self, found: Found) -> list[Mapping[str, Any]]:
        return [self._with_label(row) for row in found.to_dicts(self._options.table)]

    def _objects(self, found: Found) -> Iterator[Mapping[str, Any]]:
        from sitestats import Outcomes

        for one in found.succeeded if isinstance(found, Outcomes) else found:
            yield self._with_label(one.to_dict())

    def _with_label(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        labels = self._options.labels
        return row if labels is None else {**row, "label": labels.get(row["hostname"])}


class _Csv(Printer):
    _names: Sequence[str] = ()
    """The names of the columns, once they were printed."""

    def show(self, found: Found) -> None:
        is_first, self._names = not self._names, self._names or self._columns(found)
        self._options.style.write(self._names, self._rows(found), names=is_first)

    def end(self, last: Found) -> None:
        if not self._names:
            self._options.style.write(self._columns(last), ())


class _JsonLines(Printer):
    def show(self, found: Found) -> None:
        for one in self._objects(found):
            self._print(one)

    def show_failure(self, failure: Mapping[str, Any]) -> None:
        super().show_failure(failure)
        self._print(failure)

    def _print(self, one: Mapping[str, Any]) -> None:
        print_json_line(one)


class _Json(_JsonLines):
    is_stream = False

    def __init__(self, options: PrintOptions) -> None:
        super().__init__(options)
        self._kept: list[Mapping[str, Any]] = []

    def _print(self, one: Mapping[str, Any]) -> None:
        self._kept.append(one)

    def end(self, last: Found) -> None:  # noqa: ARG002 - of Printer
        print_json(self._kept)


class _Workbook(Printer):
    is_stream = False

    def show(self, found: Found) -> None:
        """Nothing yet: the workbook is of all that was kept."""

    def end(self, last: Found) -> None:  # noqa: ARG002 - of Printer
        print_workbook(self._options.whole())


class _Table(Printer):
    is_stream = False

    def __init__(self, options: PrintOptions) -> None:
        super().__init__(options)
        self._names: Sequence[str] = ()
        self._kept: list[Mapping[str, Any]] = []

    def show(self, found: Found) -> None:
        self._names = self._names or self._columns(found)
        self._kept += self._rows(found)[: self._options.top]

    def end(self, last: Found) -> None:  # noqa: ARG002 - of Printer
        from sitestats.analysis._console import table_of_rows

        if not self._kept:
            return
        console = make_console()
        names = [name for name in self._names if self._is_shown(name)]
        if _BEFORE in self._names:
            console.print(self._periods())
        headings = {name: _heading(name) for name in names}
        table = table_of_rows(self._kept, headings)
        table.columns[0].no_wrap = True
        console.print(table)

    def _is_shown(self, name: str) -> bool:
        if name in _NOT_IN_TABLES or name.endswith("_change"):
            return False
        if _BEFORE in self._names:
            hidden = ("first_day", "last_day", "visitors", "direction")
            is_list = "value" in self._names
            if name.startswith(hidden if is_list else hidden[:2]):
                return False
        # A flag that is raised nowhere says nothing.
        return any(row[name] is not False for row in self._kept)

    def _periods(self) -> str:
        """The days that are compared, of all websites, whose zones may differ."""

        def days(ending: str) -> str:
            first, last = (
                choose(str(row[name + ending]) for row in self._kept)
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
        self._counts: Counter[tuple[object, ...]] = Counter()
        self._lines: dict[tuple[object, ...], list[str]] = {}
        self._last: dict[tuple[object, ...], str] = {}

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

    def add_refused(self, name: str, error: QueryError) -> None:
        """Count a listed website of which no query is possible, with why."""
        self._failed += 1
        self._add(name, error, Code.ERROR_RESPONSE)

    def _add(self, where: str, error: SiteStatsError, code: Code) -> None:
        self._codes.add(code)
        kind = type(error), getattr(error, "status", None)
        self._counts[kind] += 1
        self._last[kind] = where
        lines = self._lines.setdefault(kind, [])
        if len(lines) < _MOST_OF_A_KIND:
            lines.append(f"{where}: {' '.join(messages_of(error))}")

    def report(self, total: int) -> Code:
        """Print the lines; the value says whether to try later helps one of them."""
        for kind, lines in self._lines.items():
            for line in lines:
                click.echo(f"sitestats: {one_line(line)}", err=True)
            more = self._counts[kind] - len(lines)
            if more:
                click.echo(
                    f"sitestats: … and {more:,} more like this one, up to "
                    f"{one_line(self._last[kind])}",
                    err=True,
                )
        if self._failed:
            click.echo(f"sitestats: {self._failed:,} of {total:,} failed", err=True)
        codes = sorted(self._codes, key=lambda code: code is not Code.TRY_LATER)
        return next(iter(codes), Code.OK)


def _failure(
    hostname: str, params: Mapping[str, str], error: SiteStatsError
) -> dict[str, Any]:
    """What failed as an object: for whom, which days, why, and the status."""
    return {
        "hostname": hostname,
        "start": params.get("start"),
        "end": params.get("end"),
        "error": " ".join(messages_of(error)),
        "status": getattr(error, "status", None),
    }


def _described(query: StatsQuery) -> str:
    params = query.params()
    days = [params[name] for name in ("start", "end") if name in params]
    return " ".join([query.hostname, " to ".join(dict.fromkeys(days))]).strip()
