"""What the tests of ``ensure`` and of lists know of the inside."""

from __future__ import annotations

import io
import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from inside import settings_of
from sitestats import Client, SiteStatsWarning, WebsiteSpec
from sitestats._base.text import csv_line
from sitestats.provisioning import ProvisioningReport, _journal
from sitestats.provisioning._report import State, plan_websites
from sitestats.types import Table

__all__ = [
    "State",
    "another_run",
    "csv_line",
    "journal_of",
    "load",
    "own_journals",
    "plan_websites",
    "table_of",
]


def table_of(report: ProvisioningReport) -> Table:
    """The table that displays show of *report*."""
    return report._displayed()


def own_journals() -> list[Path]:
    """The journals in the state folder."""
    return [*_journal.state_folder().glob("*.journal")]


def journal_of(client: Client) -> Path:
    """The journal of *client*'s account."""
    return _journal.account_file(settings_of(client))


def another_run(client: Client) -> AbstractContextManager[Any]:
    """While it is open, another run adds websites for *client*'s account."""
    return _journal.open_journals(settings_of(client), None)


def load(
    data: bytes | str, name: str = "list", **options: Any
) -> tuple[tuple[WebsiteSpec, ...], list[str]]:
    """The specifications of a list of this name, and its notes."""
    stream = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    stream.name = name
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        specs = WebsiteSpec.load(stream, **options)
    assert all(warning.category is SiteStatsWarning for warning in caught)
    return specs, [str(warning.message) for warning in caught]
