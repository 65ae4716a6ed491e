"""Plots on a dark page, and what a plot refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from sitestats import Client, StatsQuery
from sitestats.emulator import Emulator

QUERY = StatsQuery("shop.example").fields("pageviews", "visitors", "histogram", "pages")


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    """A client of two made-up websites."""
    with Emulator.made_up(2, days=40).client() as client:
        yield client


def results(client: Client) -> list[Any]:
    """What has a plot."""
    week = QUERY.last(days=7)
    stats = client.stats.get(week)
    comparison = client.stats.compare(week)
    both = week.each(websites=client.websites.list())
    return [
        *(stats, stats.pages, comparison, comparison["pages"]),
        *(client.stats.compare(both), client.stats.get_many(both).collect()),
    ]


def contrast(one: object, other: object) -> float:
    """How well two colours are told apart: from 1 to 21."""
    lights = []
    for colour in (one, other):
        parts = [
            part / 12.92 if part <= 0.04 else ((part + 0.055) / 1.055) ** 2.4
            for part in to_rgb(colour)  # type: ignore[arg-type]
        ]
        red, green, blue = parts
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    return max(lights) / min(lights)


@pytest.mark.parametrize(
    ("style", "page", "least"), [("dark_background", "black", 3), ("default", "w", 2)]
)
def test_what_is_drawn_is_seen(
    client: Client, style: str, page: str, least: float
) -> None:
    """Bars and lines stand out from the page, and from each other."""
    with plt.style.context(style):
        for result in results(client):
            axes = result.plot()
            ax = axes[0] if hasattr(axes, "__len__") else axes
            handles, _ = ax.get_legend_handles_labels()
            colours = [
                handle.get_color() if hasattr(handle, "get_color") else handle[0]
                for handle in handles
            ]
            colours = [
                one if isinstance(one, str) else one.get_facecolor() for one in colours
            ]
            colours += [patch.get_facecolor() for patch in ax.patches[:1]]
            assert all(contrast(one, page) >= least for one in colours)
            plt.close("all")


def test_a_size_is_that_of_axes(client: Client) -> None:
    """Pandas takes ``figsize``; here a message says what to type instead."""
    for result in results(client):
        words = (
            re.escape("plot takes no figsize") + r".*plt\.subplots\(figsize=\(8, 4\)\)"
        )
        with pytest.raises(TypeError, match=words):
            result.plot(figsize=(8, 4))
