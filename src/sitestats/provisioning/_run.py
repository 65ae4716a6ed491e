"""One run of ``ensure``: exclude other runs, write the journals, show the progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from typing import Any, cast

import anyio.to_thread
import attrs

from sitestats._base.errors import ReadOnlyError, SiteStatsError
from sitestats._base.progress import Progress, ShowProgress, showing
from sitestats._protocol.flow import Flow
from sitestats._protocol.session import Session

from ._ensure import EnsureFlow, Record
from ._journal import Journals, open_journals
from ._report import ProvisionedWebsite, ProvisioningReport
from ._specs import WebsiteSpec, as_specs


@attrs.define
class Run:
    """A run that has begun: handles what its flow notes."""

    _session: Session
    _specs: tuple[WebsiteSpec, ...]
    _journals: Journals
    show: ShowProgress | None = None
    """The function to call with how many websites are done, and of how many."""
    _done: list[ProvisionedWebsite] = attrs.field(factory=list[ProvisionedWebsite])

    def flow(self) -> Flow[ProvisioningReport]:
        """The flow of the run."""
        pending, added = dict(self._journals.pending), frozenset(self._journals.added)
        return EnsureFlow(self._session, self._specs, pending, added).run()

    def handle(self, content: object) -> None:
        """Write *content* to the journals, or show the progress.

        Raises:
            ConfigurationError: A journal can't be written.
        """
        if isinstance(content, dict):
            self._journals.record(cast("Record", content))
        elif isinstance(content, ProvisionedWebsite):
            self._done.append(content)
            if self.show is not None:
                self.show(len(self._done), len(self._specs))

    async def handle_async(self, content: object) -> None:
        """Do the same, without blocking the event loop during a write to the disk."""
        if isinstance(content, dict):
            with suppress(RuntimeError):
                await anyio.to_thread.run_sync(self.handle, cast("Record", content))
                return
            # The system refuses a further thread, or has none, as Pyodide.
        self.handle(cast("Any", content))

    def report_so_far(self) -> ProvisioningReport:
        """The report of a run that ends here; an add that was sent is unknown."""
        error = SiteStatsError("the run was interrupted while it was added")
        rest = (
            ProvisionedWebsite(spec, "unknown", error=error)
            if spec.hostname in self._journals.pending
            else ProvisionedWebsite(spec, "not_tried")
            for spec in self._specs[len(self._done) :]
        )
        return ProvisioningReport((*self._done, *rest), SiteStatsError("interrupted"))


@contextmanager
def open_run(
    session: Session,
    specs: Iterable[WebsiteSpec | str],
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    interrupted: Callable[[ProvisioningReport], object] | None = None,
) -> Generator[Run]:
    """Lock the account and the journal for one run of *specs*.

    *interrupted* is called with the report so far when an exception from outside this
    package ends the run.

    Raises:
        ReadOnlyError: The client is read-only.
        InvalidInputError: One of *specs* is given twice; or a file is not a journal for
            this service, or is damaged.
        BusyError: Another run uses the account or the journal.
        ConfigurationError: No journal is given, and the state folder can't be used.
        OSError: The journal can't be opened.
    """
    expected, settings = as_specs(specs), session.settings
    if settings.read_only:
        raise ReadOnlyError(
            f"{settings.why_read_only}, so no website is added: plan shows which "
            "ones would be"
        )
    with open_journals(settings, journal) as journals:
        run = Run(session, expected, journals)
        try:
            # The bar has ended when the report is printed.
            with showing(progress, "websites") as run.show:
                yield run
        except BaseException as error:
            if interrupted is not None and not isinstance(error, SiteStatsError):
                interrupted(run.report_so_far())
            raise
