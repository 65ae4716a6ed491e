"""Ensure: the sans-I/O flow that adds missing websites, each at most once a run.

The rules:

* Websites are added one at a time, and within a run each is sent at most once.
* After an add without a complete response, or with a 5xx, the website may have
  been added or not. The list is read again: a website that is in it was added,
  one that is not is unknown. When the list can't be read either the run stops.
* A refusal that concerns the account (credentials, role, plan) stops the run,
  any other one does not.
* An add that an earlier run announced in the journal, without an outcome, is not
  sent again before the ``total_timeout`` of that run has passed since then: by that
  time the service has processed it or never will, and the list shows which.
"""

from __future__ import annotations

import math
from typing import Final

import attrs

from sitestats._common.errors import (
    RateLimitedError,
    ReadOnlyError,
    SiteStatsError,
    TransportError,
)
from sitestats._common.settings import Settings
from sitestats._protocol import operations
from sitestats._protocol.flow import Flow, note, now, sleep
from sitestats._results.websites import AddedWebsite, Website

from ._differences import (
    as_added,
    by_hostname,
    differences_of,
    differences_of_added,
    normalised,
)
from ._events import Began, Ended, History, Sending, Settled, Waiting, WebsiteDone
from ._refusals import (
    introduced,
    is_account_wide,
    is_refusal,
    message_of,
)
from ._report import ProvisionedWebsite, ProvisioningReport, State
from ._specs import WebsiteSpec

_FIRST_PAUSE: Final = 1.0
"""Seconds before the list is read again for a pending add; then twice that."""


def ensure_websites(
    settings: Settings,
    specs: tuple[WebsiteSpec, ...],
    history: History,
    not_excluded: tuple[str, ...] = (),
) -> Flow[ProvisioningReport]:
    """Add the missing websites of *specs*, and report on each of them.

    *not_excluded* goes into the report.

    Raises:
        ReadOnlyError: The client is read-only; nothing was sent.
        SiteStatsError: The list can't be read; nothing was added.
    """
    if settings.read_only:
        raise ReadOnlyError(
            f"{settings.why_read_only}, so no website is added: a plan says what "
            "would be"
        )
    run = _Run(settings, specs, history)
    items, stopped = yield from run.run()
    return ProvisioningReport(items, stopped, not_excluded)


@attrs.define
class _Run:
    _settings: Settings
    _specs: tuple[WebsiteSpec, ...]
    _history: History
    _listed: dict[str, Website] = attrs.field(factory=dict[str, "Website"])
    _added: dict[str, AddedWebsite] = attrs.field(factory=dict[str, "AddedWebsite"])
    _items: list[ProvisionedWebsite] = attrs.field(factory=list[ProvisionedWebsite])
    _stopped: SiteStatsError | None = None
    _list_is_fresh: bool = False
    _list_is_readable: bool = True
    _rate_limits: int = 0

    def run(self) -> Flow[tuple[tuple[ProvisionedWebsite, ...], SiteStatsError | None]]:
        moment = yield from now()
        yield from note(Began(len(self._specs), moment.unix))
        yield from self._read_list()
        yield from self._wait_for_pending_adds()
        for spec in self._specs:
            item = yield from self._ensure(spec)
            self._items.append(item)
            yield from note(WebsiteDone(item, len(self._items), len(self._specs)))
        yield from self._read_list_again()
        moment = yield from now()
        yield from self._record(Ended(moment.unix))
        return tuple(self._items), self._stopped

    # --- before ---------------------------------------------------------------

    def _read_list(self) -> Flow[None]:
        websites = yield from operations.list_websites(self._settings)
        self._listed = by_hostname(websites)
        self._list_is_fresh = True

    def _wait_for_pending_adds(self) -> Flow[None]:
        """Read the list until no add of an interrupted run can be under way."""
        pause = _FIRST_PAUSE
        while pending := self._pending_adds():
            moment = yield from now()
            left = max(pending.values()) - moment.monotonic
            if left <= 0:
                return
            if pause == _FIRST_PAUSE:
                yield from note(Waiting(tuple(pending), left))
            yield from sleep(min(left, pause))
            yield from self._read_list()
            pause *= 2

    def _pending_adds(self) -> dict[str, float]:
        """The deadlines of pending adds whose websites are not in the list."""
        return {
            spec.hostname: self._history.pending[spec.hostname]
            for spec in self._specs
            if spec.hostname in self._history.pending
            and spec.hostname not in self._listed
        }

    # --- one website ------------------------------------------------------------

    def _ensure(self, spec: WebsiteSpec) -> Flow[ProvisionedWebsite]:
        existing = self._existing(spec, was_sent=self._was_sent_before(spec))
        if existing is not None:
            if spec.hostname in self._history.pending:
                yield from self._record_outcome(existing)
            return existing
        if self._stopped is not None:
            return ProvisionedWebsite(spec, "not_tried")
        if spec.hostname in self._history.added:
            return ProvisionedWebsite(
                spec,
                "unknown",
                error=SiteStatsError(
                    "an earlier run added it, says the journal, and it is not in the "
                    "list: look in the service's dashboard; to add it again, name a "
                    "new journal"
                ),
            )
        moment = yield from now()
        announced = yield from self._record(
            Sending(spec.hostname, moment, self._settings.total_timeout)
        )
        if not announced:
            return ProvisionedWebsite(spec, "not_tried")
        item = yield from self._add(spec)
        yield from self._record_outcome(item)
        return item

    def _add(self, spec: WebsiteSpec) -> Flow[ProvisionedWebsite]:
        self._list_is_fresh = False
        wanted = as_added(spec)
        try:
            added = yield from operations.add_website(
                self._settings,
                spec.hostname,
                timezone=wanted.timezone,
                public=bool(wanted.public),
                label=spec.label,
                # A warning may be raised as an error, although the website was
                # added; the report has the differences.
                warned=False,
            )
        except SiteStatsError as error:
            return (yield from self._after_error(spec, error))
        self._rate_limits = 0
        # Under both names, so that neither is added when it follows in the list.
        self._added[spec.hostname] = self._added[normalised(added.hostname)] = added
        return ProvisionedWebsite(
            spec, "added", added, differences_of_added(wanted, added)
        )

    def _after_error(
        self, spec: WebsiteSpec, error: SiteStatsError
    ) -> Flow[ProvisionedWebsite]:
        """The item for *spec* after its add raised *error*."""
        if is_account_wide(error, spec.hostname):
            self._stop(introduced("every website would be refused for this", error))
        if is_refusal(error):
            if isinstance(error, RateLimitedError):
                yield from self._wait_after_rate_limit(error)
            return ProvisionedWebsite(spec, "refused", error=error)
        sent = not isinstance(error, TransportError) or error.maybe_sent
        try:
            yield from self._read_list()
        except SiteStatsError as failure:
            self._list_is_readable = False
            self._stop(introduced("the list can't be read back", failure))
        else:
            existing = self._existing(spec, was_sent=sent, error=error)
            if existing is not None:
                return existing
        state: State = "unknown" if sent else "not_tried"
        return ProvisionedWebsite(spec, state, error=error)

    def _existing(
        self, spec: WebsiteSpec, *, was_sent: bool, error: SiteStatsError | None = None
    ) -> ProvisionedWebsite | None:
        """The item for *spec* if its website exists, else None."""
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
        return spec.hostname in history.pending or spec.hostname in history.added

    def _wait_after_rate_limit(self, error: RateLimitedError) -> Flow[None]:
        """Wait as long as the service requests; stop if that is too long."""
        self._rate_limits += 1
        policy = self._settings.retry
        seconds = max(policy.wait(self._rate_limits), error.retry_after or 0.0)
        if (
            self._rate_limits > policy.retries
            or seconds >= self._settings.total_timeout
        ):
            when = f"try again in {math.ceil(seconds):,} s"
            self._stop(introduced(f"{when}, after the pause of a rate limit", error))
        else:
            yield from sleep(seconds)

    # --- after ------------------------------------------------------------------

    def _read_list_again(self) -> Flow[None]:
        """Read the list once more for websites that were refused or are unknown.

        The service may have processed an unknown add by now, and a refused website
        may have existed already.
        """
        if self._list_is_fresh or not self._list_is_readable:
            return
        uncertain = [
            index
            for index, item in enumerate(self._items)
            if item.state in {"refused", "unknown"}
        ]
        if not uncertain:
            return
        try:
            yield from self._read_list()
        except SiteStatsError:
            return
        for index in uncertain:
            item = self._items[index]
            existing = self._existing(
                item.spec, was_sent=item.state == "unknown", error=item.error
            )
            if existing is not None:
                self._items[index] = existing
                yield from self._record_outcome(existing)

    def _record_outcome(self, item: ProvisionedWebsite) -> Flow[None]:
        moment = yield from now()
        message = None if item.error is None else message_of(item.error)
        yield from self._record(
            Settled(item.hostname, item.state, message, moment.unix)
        )

    def _record(self, event: object) -> Flow[bool]:
        """Record *event*; if the journal can't be written nothing more is sent."""
        try:
            yield from note(event)
        except SiteStatsError as error:
            self._stop(error)
            return False
        return True

    def _stop(self, why: SiteStatsError) -> None:
        if self._stopped is None:
            self._stopped = why
