"""One run of ``ensure``: exclude other runs, write the journal, show the progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final

import anyio.to_thread

from sitestats._common.errors import SiteStatsError, warn
from sitestats._common.progress import Progress, ShowProgress, showing
from sitestats._common.settings import Settings
from sitestats._protocol.flow import Flow

from ._account import locked_account
from ._ensure import ensure_websites
from ._events import History, Sending, Settled, Waiting, WebsiteDone
from ._journal import Journal, open_journal
from ._report import ProvisionedWebsite, ProvisioningReport
from ._specs import WebsiteSpec, as_specs

OTHERS: Final = (
    "runs on other machines and of other users, and websites that are added in the "
    "dashboard or without ensure at the same time"
)
NO_JOURNAL: Final = (
    "adds of this run that end as unknown or in a power failure, and websites that it "
    "added and somebody removed: there is no journal"
)


class EventHandler:
    """Handles the events of a run: writes the journals and shows the progress."""

    def __init__(
        self,
        journals: Sequence[Journal],
        not_excluded: tuple[str, ...] = (),
        specs: tuple[WebsiteSpec, ...] = (),
    ) -> None:
        self._journals = journals
        self._specs = specs
        self.show: ShowProgress | None = None
        """Is called with how many websites are done, and of how many."""
        self._not_excluded = not_excluded
        pending: dict[str, float] = {}
        for journal in journals:
            for hostname, until in journal.history.pending.items():
                pending[hostname] = max(until, pending.get(hostname, until))
        added = (journal.history.added for journal in journals)
        self._history = History(pending, frozenset[str]().union(*added))
        self._done: list[ProvisionedWebsite] = []
        self._sent: str | None = None

    def flow(self, settings: Settings) -> Flow[ProvisioningReport]:
        """The flow of the run."""
        return ensure_websites(settings, self._specs, self._history, self._not_excluded)

    def handle(self, event: object) -> None:
        """Write *event* to the journals, or show the progress.

        Raises:
            ConfigurationError: A journal can't be written.
        """
        match event:
            case WebsiteDone():
                self._done.append(event.item)
                if self.show is not None:
                    self.show(event.done, event.total)
            case Waiting():
                first, *more = event.hostnames
                others = f" and {len(more):,} more" if more else ""
                warn(
                    f"an earlier run sent {first}{others}, and the list does not show "
                    f"it yet: waiting up to {event.seconds:.0f} seconds, as it may "
                    "still be under way"
                )
            case _:
                if isinstance(event, Settled):
                    self._sent = None
                elif isinstance(event, Sending):
                    self._sent = event.hostname
                    # Before any has it: what one announces, the next run waits for.
                    for journal in self._journals:
                        journal.check_place()
                for journal in self._journals:
                    journal.record(event)

    def report_so_far(self) -> ProvisioningReport:
        """The report of a run that ends here; an add that was sent is unknown."""
        items = [*self._done]
        for spec in self._specs[len(items) :]:
            if spec.hostname == self._sent or spec.hostname in self._history.pending:
                error = SiteStatsError("the run was interrupted while it was added")
                items.append(ProvisionedWebsite(spec, "unknown", error=error))
            else:
                items.append(ProvisionedWebsite(spec, "not_tried"))
        stopped = SiteStatsError("interrupted")
        return ProvisioningReport(tuple(items), stopped, self._not_excluded)

    async def handle_async(self, event: object) -> None:
        """The same, without blocking the event loop while the disk is written."""
        if isinstance(event, (WebsiteDone, Waiting)):
            self.handle(event)
        else:
            await anyio.to_thread.run_sync(self.handle, event)


@contextmanager
def open_run(
    settings: Settings,
    specs: Iterable[WebsiteSpec] = (),
    journal: str | os.PathLike[str] | None = None,
    progress: Progress = None,
    interrupted: Callable[[ProvisioningReport], object] | None = None,
) -> Generator[EventHandler]:
    """Lock the account and the journal for one run of *specs*.

    *interrupted* is called with the report so far when an exception ends the run that
    is no error of this package.

    Raises:
        SpecError: One of *specs* is none, or is given twice; or the file is not a
            journal, or damaged.
        BusyError: Another run uses the account or the journal.
        ConfigurationError: The journal is for another service.
        OSError: The journal can't be opened.
    """
    wanted = as_specs(specs)
    not_excluded = [OTHERS]
    journals: list[Journal] = []
    with ExitStack() as stack:
        # Without a user ID, or read-only, nothing will be added.
        if settings.user_id is not None and not settings.read_only:
            account = stack.enter_context(locked_account(settings))
            if isinstance(account, Journal):
                journals.append(account)
            else:
                not_excluded.insert(0, _not_locked(account))
                warn(f"this can't be excluded: {not_excluded[0]}")
        own = stack.enter_context(open_journal(journal, str(settings.base)))
        if own is None:
            not_excluded.append(NO_JOURNAL)
        else:
            journals.insert(0, own)
        handler = EventHandler(journals, tuple(not_excluded), wanted)
        try:
            # The bar has ended when the report is printed.
            with showing(progress, "websites") as handler.show:
                yield handler
        except SiteStatsError:
            raise
        except BaseException:
            if interrupted is not None:
                interrupted(handler.report_so_far())
            raise


def _not_locked(error: OSError) -> str:
    where = "" if error.filename is None else f"{error.filename}: "
    return (
        "other runs on this machine at the same time, because the state folder can't "
        f"be used ({where}{error.strerror or error}): set XDG_STATE_HOME to one that "
        "can be written"
    )
