"""The example programs say "unknown" of what a response lacks, and never 0."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter

import pytest

from sitestats import SiteStatsWarning

if TYPE_CHECKING:
    from sitestats.emulator import Emulator

EXAMPLES = Path(__file__).parents[2] / "examples"
HOST = "semicomplete.com"
LISTS: dict[str, Any] = {
    "pageviews": 3,
    "visitors": None,
    "pages": [{"value": "/a", "pageviews": 3, "visitors": 2, "seconds_on_page": None}],
    "referrers": None,
    "histogram": None,
}


@pytest.mark.parametrize(
    ("program", "body", "words"),
    [
        ("dashboard.py", {"pageviews": 3, "visitors": None}, "3   unknown"),
        ("dashboard.py", {"pageviews": 3, "visitors": 2}, f"{HOST}  "),
        ("readers.py", LISTS, "3 /a  unknown"),
        ("weekly_digest.py", LISTS, "unknown visitors"),
    ],
)
def test_what_is_not_known_is_said(
    emulator: Emulator,
    capsys: pytest.CaptureFixture[str],
    *,
    program: str,
    body: dict[str, Any],
    words: str,
) -> None:
    """Totals and lists that a response lacks end no program, and are not zeros."""
    emulator.fail_next(2, body={"ok": True, **body}, path=f"/{HOST}.json")
    with pytest.MonkeyPatch.context() as patch, catch_warnings():
        simplefilter("ignore", SiteStatsWarning)
        patch.setattr(sys, "argv", [program, HOST])
        runpy.run_path(str(EXAMPLES / program), run_name="__main__")
    emulator.clear_faults()
    assert words in capsys.readouterr().out
