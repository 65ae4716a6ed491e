"""Statistics as a person would like to read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console, Group, RenderableType
from rich.text import Text

from ._output import make_table, text
from ._text import plain

if TYPE_CHECKING:
    from sitestats import Stats
    from sitestats._entries import Entries

TOTALS: Final = ("pageviews", "visitors", "seconds_on_page")
_NAMES: Final = {
    "seconds_on_page": "median seconds on a page",
    "utm_sources": "UTM sources",
    "utm_mediums": "UTM mediums",
    "utm_campaigns": "UTM campaigns",
    "utm_contents": "UTM contents",
    "utm_terms": "UTM terms",
    "browser_names": "browsers",
    "os_names": "operating systems",
    "device_types": "devices",
}
_NOTHING: Final = {
    "referrers": "(none)",
    "countries": "(unknown)",
}
_MOST_BARS: Final = 40
_BAR: Final = 36
_BLOCKS: Final = " ▁▂▃▄▅▆▇█"
_ASCII_BLOCKS: Final = " .:-=+*#@"


def show_stats(console: Console, stats: Stats, *, top: int) -> None:
    """Print totals, a chart of the histogram, and a table for each list.

    Args:
        console: Where to.
        stats: What to print.
        top: The most lines of a table.
    """
    console.print(_heading(stats))
    totals = [name for name in TOTALS if name in stats]
    if totals:
        console.print()
        console.print(_totals(stats, totals))
    if "histogram" in stats:
        console.print()
        console.print(_chart(stats.histogram, console))
    for name in stats.requested:
        if name in stats and name not in {*TOTALS, "histogram"}:
            console.print()
            console.print(_list(getattr(stats, name), top))


def heading_of(name: str) -> str:
    """A field's name for people: ``"browsers"`` for ``browser_names``."""
    return _NAMES.get(name, name)


def _heading(stats: Stats) -> Text:
    heading = Text(plain(stats.hostname or stats.query.hostname), style="bold")
    if stats.path not in {None, "*"}:
        heading.append(plain(str(stats.path)))
    about: list[str] = []
    if stats.start is not None and stats.end is not None:
        zone = _zone(stats.timezone)
        start, end = (moment.astimezone(zone) for moment in (stats.start, stats.end))
        about.append(f"{start:%Y-%m-%d} to {end:%Y-%m-%d}")
    if stats.timezone is not None:
        about.append(plain(stats.timezone))
    if about:
        heading.append(f"  {', '.join(about)}", style="dim")
    return heading


def _zone(name: str | None) -> Any:
    from zoneinfo import ZoneInfo

    try:
        return None if name is None else ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return ZoneInfo("UTC")


def _totals(stats: Stats, names: Sequence[str]) -> Text:
    line = Text()
    for name in names:
        if line:
            line.append("   ")
        line.append(text(getattr(stats, name)).plain, style="bold")
        line.append(f" {heading_of(name)}")
    return line


# --- the chart --------------------------------------------------------------------


def _chart(histogram: Entries[Any], console: Console) -> RenderableType:
    title = Text("page views", style="bold")
    if not histogram:
        return Group(title, Text("  none in this period", style="dim"))
    counts = [entry.get("pageviews") or 0 for entry in histogram]
    ascii_only = console.options.ascii_only
    if len(counts) > _MOST_BARS:
        lines = _sparkline(histogram, counts, console.width, ascii_only=ascii_only)
    else:
        lines = _bars(histogram, counts, ascii_only=ascii_only)
    return Group(title, *lines)


def _bars(
    histogram: Entries[Any], counts: Sequence[int], *, ascii_only: bool
) -> Iterator[Text]:
    highest = max(*counts, 1)
    width = max(len(f"{count:,}") for count in counts)
    for entry, count in zip(histogram, counts, strict=True):
        # A count above zero is always seen.
        filled = -(-count * _BAR // highest)
        line = Text(f"  {_label(entry)}  {count:>{width},}  ")
        line.append(("#" if ascii_only else "█") * filled, style="cyan")
        line.rstrip()
        if entry.get("partial"):
            line.append("  not over yet", style="dim")
        yield line


def _sparkline(
    histogram: Entries[Any], counts: Sequence[int], width: int, *, ascii_only: bool
) -> Iterator[Text]:
    blocks = _ASCII_BLOCKS if ascii_only else _BLOCKS
    highest = max(*counts, 1)
    label = max(len(_label(entry)) for entry in histogram)
    room = max(10, width - label - 4)
    for start in range(0, len(counts), room):
        line = Text(f"  {_label(histogram[start]):{label}}  ")
        line.append(
            "".join(
                blocks[-(-count * (len(blocks) - 1) // highest)]
                for count in counts[start : start + room]
            ),
            style="cyan",
        )
        yield line
    yield Text(f"  the highest is {highest:,}", style="dim")


def _label(entry: Any) -> str:
    day = f"{entry.date:%a %Y-%m-%d}"
    hour = entry.get("hour")
    return day if hour is None else f"{day} {hour:02}:00"


# --- the lists --------------------------------------------------------------------


def _list(entries: Entries[Any], top: int) -> RenderableType:
    name = entries.name
    if not entries:
        title = Text(heading_of(name), style="bold")
        return Group(title, Text("  none in this period", style="dim"))
    first, *numbers = entries.columns
    columns = {heading_of(name): False}
    columns |= {heading_of(number).replace("_", " "): True for number in numbers}
    table = make_table(columns)
    for entry in entries[:top]:
        value = entry.get(first)
        label = text(value) if value else Text(_NOTHING.get(name, "-"), style="dim")
        table.add_row(label, *(text(entry.get(number)) for number in numbers))
    left_out = len(entries) - top
    if left_out > 0 or entries.truncated:
        more = f"{left_out:,} more" if left_out > 0 else "the limit is reached"
        if left_out > 0 and entries.truncated:
            more += ", and the limit is reached"
        return Group(table, Text(f"  … {more}", style="dim"))
    return table
