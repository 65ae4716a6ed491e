"""Write the measured tables and goals into the two pages on benchmarks."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from measuring import Goal, Table

LIBRARIES = (
    "httpx",
    "httpcore",
    "h11",
    "anyio",
    "attrs",
    "cattrs",
    "msgspec",
    "duckdb",
    "pydantic",
    "requests",
    "aiohttp",
    "trio",
)

HEAD = """\
# All benchmarks

Every table that `nox -s bench` measures and writes. Machines differ and are noisy, so
look at the **ratios**. The variants of a table took turns in the same run, and the
best turn of each counts. The server is another process on the same machine.
"""
GOALS = re.compile(r"(<!-- goals -->\n).*?(<!-- end of goals -->)", re.DOTALL)


def all_tables(tables: Sequence[Table], load: float) -> str:
    """The page of evidence; *load* is that of the machine before the run."""
    lines = [HEAD, *_machine(load), *_tables(tables)]
    return "\n".join(lines).rstrip() + "\n"


def goals(tables: Sequence[Table], *, checked: bool = True) -> str:
    """The table of the goals, and what is in the way of those that are not reached."""
    return "\n".join(["", *_goals(tables, checked)]).rstrip() + "\n"


def write(folder: Path, tables: Sequence[Table], load: float, *, checked: bool) -> None:
    """Write the page of evidence, and the goals into the page for users."""
    evidence = folder / "evidence" / "benchmarks.md"
    evidence.write_text(all_tables(tables, load), "utf-8")
    page = folder / "benchmarks.md"
    text = goals(tables, checked=checked)
    written, found = GOALS.subn(
        lambda match: f"{match[1]}\n{text}\n{match[2]}", page.read_text("utf-8")
    )
    assert found == 1
    page.write_text(written, "utf-8")


def _machine(load: float) -> Iterator[str]:
    versions = ", ".join(f"{name} {version}" for name, version in _versions())
    python = f"{platform.python_implementation()} {platform.python_version()}"
    text = (
        f"Measured on {datetime.now(UTC).date()}: {_processor()}, {os.cpu_count()} "
        f"cores (load {load:.1f} before the run), {platform.system()}, {python}; "
        f"{versions}."
    )
    yield from textwrap.wrap(text, 88)
    yield ""


def _versions() -> Iterator[tuple[str, str]]:
    for name in LIBRARIES:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def _goals(tables: Sequence[Table], checked: bool) -> Iterator[str]:  # noqa: FBT001 -- passed on
    goals = [goal for table in tables for goal in table.goals]
    if not goals:
        return
    yield "| Figure | Ratio | At most | |"
    yield "| --- | ---: | ---: | --- |"
    for goal in goals:
        reached = "reached" if goal.is_reached else "**not reached**"
        reached = reached if checked else "not checked"
        yield f"| {goal.what} | {goal.reached:.2f} | {goal.limit:g} | {reached} |"
    yield ""
    for goal in goals:
        if checked and not goal.is_reached:
            yield from _obstacle(goal)


def _obstacle(goal: Goal) -> Iterator[str]:
    why = goal.obstacle or "The reason is not known yet."
    yield from textwrap.wrap(f"*Not reached: {goal.what}.* {why}", 88)
    yield ""


def _tables(tables: Sequence[Table]) -> Iterator[str]:
    for table in tables:
        yield f"## {table.title}"
        yield ""
        yield from textwrap.wrap(table.about, 88)
        yield ""
        if any(row.ratio is not None for row in table.rows):
            yield "| | Ratio | |"
            yield "| --- | ---: | ---: |"
            for row in table.rows:
                ratio = "" if row.ratio is None else f"{row.ratio:.2f}"
                yield f"| {row.what} | {ratio} | {row.value} |"
        else:
            yield "| | |"
            yield "| --- | ---: |"
            for row in table.rows:
                yield f"| {row.what} | {row.value} |"
        yield ""
