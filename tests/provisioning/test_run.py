"""What a run of ensure does with its events."""

from __future__ import annotations

from threading import get_ident
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from sitestats import SiteStatsWarning, WebsiteSpec
from sitestats.provisioning import ProvisionedWebsite
from sitestats.provisioning._events import Ended, History, Waiting, WebsiteDone
from sitestats.provisioning._run import EventHandler

pytestmark = pytest.mark.standard_library


@pytest.mark.parametrize(
    ("hostnames", "named"),
    [
        (("a.example",), "a.example, and"),
        (("a.example", "b.example"), "a.example and 1 more, and"),
        (("a.example", *("b.example",) * 1_200), "a.example and 1,200 more, and"),
    ],
)
def test_a_wait_names_one_website_and_counts_the_others(
    hostnames: tuple[str, ...], named: str
) -> None:
    """The warning says for which adds of an earlier run a run waits."""
    with pytest.warns(SiteStatsWarning) as warned:
        EventHandler(()).handle(Waiting(hostnames, 60.2))
    assert str(warned[0].message) == (
        f"an earlier run sent {named} the list does not show it yet: waiting up to 60 "
        "seconds, as it may still be under way"
    )


def test_a_loop_does_not_wait_for_the_disk() -> None:
    """In an event loop another thread writes the journals, and its own one shows the
    progress.
    """
    threads: dict[str, int] = {}

    def write(_event: object) -> None:
        threads["journal"] = get_ident()

    def show(_done: int, _total: int) -> None:
        threads["progress"] = get_ident()

    journal: Any = SimpleNamespace(history=History(), record=write)
    handler = EventHandler((journal,))
    handler.show = show
    item = ProvisionedWebsite(WebsiteSpec("a.example"), "present")
    for event in (WebsiteDone(item, 1, 1), Ended(0.0)):
        anyio.run(handler.handle_async, event)
    assert threads["progress"] == get_ident() != threads["journal"]
