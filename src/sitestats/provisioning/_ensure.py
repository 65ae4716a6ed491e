"""Making a list of websites true: one flow, for both clients.

The rules, in one place:

* Websites are added one at a time, and within a run each is sent once at most.
* An exchange that ends without a whole answer, or in a 5xx, says nothing about
  the website. The list is read back: a website that is there was added, one
  that is not is unknown. When the list can't be read either the run stops.
* A refusal that concerns the account (credentials, role, plan) stops the run,
  any other one does not.
* An add that an earlier run announced in the journal, with its fate open, is
  not sent again before ``total_timeout`` has gone by since then: whatever was
  still under way has come to its end by that time, and the list tells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sitestats import _operations as operations
from sitestats._errors import RateLimitedError, ReadOnlyError, SiteStatsError
from sitestats._flow import note, now, sleep

from ._differences import (
    by_hostname,
    differences_of,
    differences_of_added,
    normalised,
)
from ._events import Began, Ended, History, Progress, Sending, Settled
from ._refusals import is_account_wide, is_refusal, message_of, was_not_sent
from ._report import ProvisionedWebsite, ProvisioningReport, State

if TYPE_CHECKING:
    from sitestats._flow import Flow
    from sitestats._models import AddedWebsite, Website
    from sitestats._settings import Settings

    from ._specs import WebsiteSpec

_FIRST_PAUSE: Final = 1.0
"""Seconds before the list is looked at again for an open add; then twice that."""


def ensure_websites(
    settings: Settings, specs: tuple[WebsiteSpec, ...], history: History
) -> Flow[ProvisioningReport]:
    """Add what is missing of *specs*, and account for every one of them.

    Raises:
        ReadOnlyError: The client is read-only; nothing was sent.
        SiteStatsError: The list can't be read; nothing was added.
    """
    if settings.read_only:
        raise ReadOnlyError(
            "this client is read-only, so it adds no websites: plan(…) says what "
            "would be added"
        )
    run = _Run(settings, specs, history)
    return (yield from run.run())


class _Run:
    def __init__(
        self, settings: Settings, specs: tuple[WebsiteSpec, ...], history: History
    ) -> None:
        self._settings = settings
        self._specs = specs
        self._history = history
        self._listed: dict[str, Website] = {}
        self._added: dict[str, AddedWebsite] = {}
        self._items: list[ProvisionedWebsite] = []
        self._stopped: str | None = None
        self._list_is_fresh = False
        self._list_is_readable = True
        self._rate_limits = 0

    def run(self) -> Flow[ProvisioningReport]:
        moment = yield from now()
        yield from note(Began(len(self._specs), moment.unix))
        yield from self._read_list()
        yield from self._wait_for_open_adds()
        for spec in self._specs:
            item = yield from self._ensure(spec)
            self._items.append(item)
            yield from note(Progress(len(self._items), len(self._specs)))
        yield from self._look_again()
        moment = yield from now()
        yield from self._record(Ended(moment.unix))
        return ProvisioningReport(tuple(self._items), self._stopped)

    # --- before ---------------------------------------------------------------

    def _read_list(self) -> Flow[None]:
        websites = yield from operations.list_websites(self._settings)
        self._listed = by_hostname(websites)
        self._list_is_fresh = True

    def _wait_for_open_adds(self) -> Flow[None]:
        """Let adds of an interrupted run come to their end, looking for them."""
        started = yield from now()
        pause = _FIRST_PAUSE
        while sent := self._open_adds():
            moment = yield from now()
            longest = self._settings.total_timeout
            left = min(
                max(sent) + longest - moment.unix,
                # Clocks are set back, too.
                started.monotonic + longest - moment.monotonic,
            )
            if left <= 0:
                return
            yield from sleep(min(left, pause))
            yield from self._read_list()
            pause *= 2

    def _open_adds(self) -> list[float]:
        """When those were sent that are open and not in the list."""
        return [
            self._history.open[spec.hostname]
            for spec in self._specs
            if spec.hostname in self._history.open and spec.hostname not in self._listed
        ]

    # --- one website ------------------------------------------------------------

    def _ensure(self, spec: WebsiteSpec) -> Flow[ProvisionedWebsite]:
        there = self._there(spec, was_sent=self._was_sent_before(spec))
        if there is not None:
            if spec.hostname in self._history.open:
                yield from self._settle(there)
            return there
        if self._stopped is not None:
            return ProvisionedWebsite(spec, "not_tried")
        if spec.hostname in self._history.added:
            return ProvisionedWebsite(
                spec,
                "unknown",
                error=SiteStatsError(
                    "the journal says that it was added, and it is not in the list: "
                    "look in the service's dashboard; name a new journal to add it "
                    "again"
                ),
            )
        moment = yield from now()
        announced = yield from self._record(Sending(spec.hostname, moment.unix))
        if not announced:
            return ProvisionedWebsite(spec, "not_tried")
        item = yield from self._add(spec)
        yield from self._settle(item)
        return item

    def _add(self, spec: WebsiteSpec) -> Flow[ProvisionedWebsite]:
        self._list_is_fresh = False
        try:
            added = yield from operations.add_website(
                self._settings,
                spec.hostname,
                timezone=spec.timezone,
                public=spec.public,
                label=spec.label,
                # A warning may be an error, and the website is added by now;
                # the report tells what differs.
                warned=False,
            )
        except SiteStatsError as error:
            return (yield from self._judge(spec, error))
        self._rate_limits = 0
        # Under both names, so that neither is added when it comes up again.
        self._added[spec.hostname] = self._added[normalised(added.hostname)] = added
        return ProvisionedWebsite(
            spec, "added", added, differences_of_added(spec, added)
        )

    def _judge(
        self, spec: WebsiteSpec, error: SiteStatsError
    ) -> Flow[ProvisionedWebsite]:
        """What became of *spec* when its add ended in *error*."""
        if is_account_wide(error, spec.hostname):
            self._stop(f"every website would be refused for this: {message_of(error)}")
        if is_refusal(error):
            if isinstance(error, RateLimitedError):
                yield from self._slow_down(error)
            return ProvisionedWebsite(spec, "refused", error=error)
        sent = not was_not_sent(error)
        try:
            yield from self._read_list()
        except SiteStatsError as failure:
            self._list_is_readable = False
            self._stop(f"the list can't be read back: {message_of(failure)}")
        else:
            there = self._there(spec, was_sent=sent, error=error)
            if there is not None:
                return there
        state: State = "unknown" if sent else "not_tried"
        return ProvisionedWebsite(spec, state, error=error)

    def _there(
        self, spec: WebsiteSpec, *, was_sent: bool, error: SiteStatsError | None = None
    ) -> ProvisionedWebsite | None:
        """The item for *spec* if it exists; None if it does not."""
        website = self._listed.get(spec.hostname)
        if website is not None:
            differences = differences_of(spec, website)
            if was_sent:
                state: State = "added"
            else:
                state = "differing" if differences else "present"
            return ProvisionedWebsite(spec, state, website, differences, error)
        added = self._added.get(spec.hostname)
        if added is not None:
            differences = differences_of_added(spec, added)
            state = "differing" if differences else "present"
            return ProvisionedWebsite(spec, state, added, differences)
        return None

    def _was_sent_before(self, spec: WebsiteSpec) -> bool:
        history = self._history
        return spec.hostname in history.open or spec.hostname in history.added

    def _slow_down(self, error: RateLimitedError) -> Flow[None]:
        """Wait as asked before the next website; stop if that is too long."""
        self._rate_limits += 1
        policy = self._settings.retry
        seconds = max(policy.wait(self._rate_limits), error.retry_after or 0.0)
        if (
            self._rate_limits > policy.retries
            or seconds >= self._settings.total_timeout
        ):
            self._stop(f"the service asks for a longer pause: {message_of(error)}")
        else:
            yield from sleep(seconds)

    # --- after ------------------------------------------------------------------

    def _look_again(self) -> Flow[None]:
        """Read the list once more for what was refused or is unknown.

        An add that the service gave no answer to may have come through by now,
        and one that it refused may have been there already.
        """
        if self._list_is_fresh or not self._list_is_readable:
            return
        doubtful = [
            index
            for index, item in enumerate(self._items)
            if item.state in {"refused", "unknown"}
        ]
        if not doubtful:
            return
        try:
            yield from self._read_list()
        except SiteStatsError:
            return
        for index in doubtful:
            item = self._items[index]
            there = self._there(
                item.spec, was_sent=item.state == "unknown", error=item.error
            )
            if there is not None:
                self._items[index] = there
                yield from self._settle(there)

    def _settle(self, item: ProvisionedWebsite) -> Flow[None]:
        moment = yield from now()
        message = None if item.error is None else message_of(item.error)
        yield from self._record(
            Settled(item.hostname, item.state, message, moment.unix)
        )

    def _record(self, event: object) -> Flow[bool]:
        """Note *event*; without a journal that works nothing more is sent."""
        try:
            yield from note(event)
        except SiteStatsError as error:
            self._stop(message_of(error))
            return False
        return True

    def _stop(self, why: str) -> None:
        if self._stopped is None:
            self._stopped = why
