"""What each picture shows: one function a picture, named as its files.

Each runs the real thing against an emulator whose day is fixed, so that a picture stays
the same until what it shows changes.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import matplotlib.pyplot as plt
from pandas import DataFrame

from sitestats import Client, Outcomes, StatsQuery, WebsiteSpec
from sitestats.emulator import Emulator

from .cells import Cell, last_value, run_cell
from .charts import bar_chart
from .plots import Plot
from .terminal import Screen, run_command, screen_of

NOW: Final = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
ALL: Final[dict[str, Callable[[], Content]]] = {}
Content: TypeAlias = Cell | Plot | Screen


def picture(make: Callable[[], Content]) -> Callable[[], Content]:
    """Register what makes a picture."""
    ALL[make.__name__.replace("_", "-")] = make
    return make


@cache
def emulator() -> Emulator:
    """Six websites with a year of made-up traffic."""
    return Emulator.made_up(6, now=NOW)


@cache
def two_years() -> Emulator:
    """Four websites, of which a month a year ago is known too."""
    return Emulator.made_up(4, days=430, now=NOW)


@cache
def new_website() -> Emulator:
    """A website of twenty days."""
    return Emulator.made_up(1, days=20, now=NOW)


@cache
def client() -> Client:
    """A client of the emulator, for all pictures."""
    return emulator().client()


def cell(source: str) -> Cell:
    """A cell that can use the client and the public names."""
    names: dict[str, Any] = {"StatsQuery": StatsQuery, "WebsiteSpec": WebsiteSpec}
    shop = StatsQuery("shop.example")
    return run_cell(
        source, names | {"client": client(), "shop": shop, "month": october()}
    )


def october() -> StatsQuery:
    """Last month of the shop."""
    query = StatsQuery("shop.example").during("2026-10").limit(5)
    return query.fields("pageviews", "visitors", "histogram", "pages")


# --- in a notebook


@picture
def result() -> Cell:
    """A result: totals, a chart, a table."""
    return cell("""\
shop = StatsQuery("shop.example").fields("pageviews", "visitors", "histogram", "pages")
client.stats.get(shop.last(days=30).limit(4))
""")


@picture
def comparison() -> Cell:
    """A month against the month before."""
    return cell("""\
month = shop.fields("pageviews", "visitors", "referrers").during("2026-10")
client.stats.compare(month, against="previous_month")  # made-up traffic
""")


@picture
def outcomes() -> Cell:
    """Many websites at once, one of them misspelt."""
    return cell("""\
websites = [*client.websites.list(), "shpo.example"]  # made-up traffic
client.stats.get_many([month.website(name) for name in websites]).collect()
""")


@picture
def plan() -> Cell:
    """What would be added to the service."""
    return cell("""\
client.websites.plan([
    WebsiteSpec("shop.example", timezone="Europe/Berlin"),
    WebsiteSpec("outlet.example", timezone="Europe/Berlin"),
    WebsiteSpec("help.example", public=True),
])
""")


@picture
def frame() -> Cell:
    """A list as a data frame of pandas."""
    return cell("""\
client.stats.get(month).pages.to_pandas()  # made-up traffic
""")


# --- plots


@picture
def plot_days() -> Plot:
    """A result: its histogram."""
    return Plot(client().stats.get(october()).plot)


@picture
def plot_comparison() -> Plot:
    """Two months on each other."""
    return Plot(client().stats.compare(october(), against="previous_month").plot)


@picture
def plot_year() -> Plot:
    """A year by the hour, drawn as the mean of each day."""
    query = StatsQuery("shop.example").fields("histogram").interval("hour")
    stats = client().stats.get(query.between("2025-11-03", "2026-11-01"))
    return Plot(stats.plot)


@picture
def plot_websites() -> Plot:
    """Many websites beside each other."""
    return Plot(outcomes_of("2026-10").plot)


@picture
def plot_growth() -> Plot:
    """Two months of many websites."""
    return Plot(outcomes_of("2026-10").compare_to(outcomes_of("2026-09")).plot)


@picture
def chart_reading() -> Plot:
    """The time to read a response, beside other libraries."""
    return bar_chart(["Reading eleven lists of 1,000 entries"], "msgspec|fallback")


@picture
def chart_call() -> Plot:
    """The time of one call, beside other libraries."""
    return bar_chart(["One call", "One call, async"], "alone")


@picture
def chart_many() -> Plot:
    """The time of many queries, beside other libraries."""
    return bar_chart(["50 at a time, async", "50 at a time, with threads"], "trio|over")


def outcomes_of(month: str) -> Outcomes:
    """A month of all websites."""
    queries = [october().website(w).during(month) for w in client().websites.list()]
    return client().stats.get_many(queries).collect()


# --- the recipes


def recipe(title: str, service: Callable[[], Emulator]) -> Content:
    """What the code below a heading of the recipes shows: a frame, or a plot."""
    _, _, text = RECIPES.read_text("utf-8").partition("\n```python\n")
    beginning, code = (
        part.partition("```\n")[0]
        for part in (
            text,
            text.partition(f"## {title}\n")[2].partition("```python\n")[2],
        )
    )

    def run() -> object:
        names: dict[str, Any] = {"StatsQuery": StatsQuery, "client": service().client()}
        return last_value(beginning + code, names)

    shown = run()
    if isinstance(shown, DataFrame):
        return Cell("", shown.to_html(float_format="{:.2f}".format))
    plt.close("all")
    return Plot(run)


RECIPES: Final = Path(__file__).parents[2] / "docs" / "recipes.md"
for name, title in {
    "hours": "Hours and weekdays as a heat map",
    "year": "A year over the year before",
    "pages": "The pages that grow most",
    "devices": "The share of each device over time",
    "referrers": "The referrers of each website",
    "campaign": "A campaign, day by day",
    "funnel": "A funnel of events",
    "launch": "What is unusual after a launch",
    "file": "A file for a colleague",
}.items():
    ALL[f"recipe-{name}"] = partial(recipe, title, two_years)
ALL["recipe-new"] = partial(recipe, "The first days of a new website", new_website)


# --- in a terminal


@contextmanager
def settings(emulator: Emulator) -> Iterator[dict[str, str]]:
    """The variables of a command that uses *emulator*."""
    with emulator.serve() as address, tempfile.TemporaryDirectory() as folder:
        yield {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
            "XDG_STATE_HOME": folder,
        }


# The day of `sitestats demo` is the present: here it is a fixed one.
DEMO: Final = f"""
import datetime, sys
from functools import partial
from sitestats.cli import main
from sitestats.emulator import Emulator
Emulator.demo = partial(Emulator.demo, now={NOW!r})
sys.argv = ["sitestats", "demo", "--top", "3"]
main()
"""
COMMAND: Final = (sys.executable, "-m", "sitestats")


@picture
def demo() -> Screen:
    """The beginning of what the demo prints."""
    output = run_command([sys.executable, "-c", DEMO])
    # The port is another one each time.
    output = re.sub(r"(?<=127\.0\.0\.1:)\d+", "8080", output)
    shown = output.partition("countries")[0].rstrip()
    return Screen(f"{prompt('sitestats demo --top 3')}{shown}")


@picture
def progress() -> Screen:
    """Websites being added: what was confirmed, and a bar that is half done."""
    cities = ("Amsterdam", "Berlin", "Lisbon", "Paris", "Prague", "Rome")
    names = "".join(f"{city}.example,Europe/{city}\n" for city in cities)
    service = Emulator(now=NOW)
    # So slow that the bar has a rate after three.
    service.fail_next(len(cities), latency=0.5, method="POST")
    with settings(service) as environment:
        path = Path(environment["XDG_STATE_HOME"], "shops.csv")
        path.write_text(f"hostname,timezone\n{names}", "utf-8")
        command = [*COMMAND, "websites", "ensure", str(path)]
        output = run_command(command, environment, {"[y/N]: ": "y"})
    end = output.index("\r", output.index("3 of 6"))
    line = prompt("sitestats websites ensure shops.csv")
    return Screen(f"{line}{screen_of(output[:end])}")


@picture
def error() -> Screen:
    """Errors, each with what to do."""
    lines = []
    with settings(emulator()) as environment:
        for line in (
            "stats shpo.example",
            "stats shop.example --field pageview --start 2026-13-01",
        ):
            output = run_command([*COMMAND, *line.split()], environment)
            lines += [prompt(f"sitestats {line}"), output, "\n"]
    return Screen("".join(lines).rstrip())


@picture
def stats() -> Screen:
    """A result in a terminal."""
    line = "stats shop.example --last 7 --field visitors,histogram,pages --top 4"
    with settings(emulator()) as environment:
        output = run_command([*COMMAND, *line.split()], environment)
    return Screen(f"{prompt(f'sitestats {line}')}{output.rstrip()}")


def prompt(line: str) -> str:
    """A line that was typed, in bold."""
    return f"\x1b[1m$ {line}\x1b[0m\n"
