"""What a run of ensure does with its events."""

from __future__ import annotations

import pytest

from sitestats import SiteStatsWarning
from sitestats.provisioning._events import Waiting
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
