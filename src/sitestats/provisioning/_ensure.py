"""Ensure: the sans-I/O flow that adds missing websites, each at most once a run.

The rules:

* Websites are added one at a time, and within a run each is sent at most once.
* After an add without a complete response, or with a 5xx, the website may have
  been added or not. The list is read again: a website in it was added, any other is
  unknown. If the list can't be read either, the run stops.
* A refusal that concerns the account (credentials, role, plan) stops the run,
  any other one does not.
* Nothing is added while the list has a website whose host name can't be read: it may be
  the one, and an add can't be undone.
* An add that an earlier run announced, without an outcome, is not sent again before
  the ``total_timeout`` of that run has passed since then: by that time the service
  has processed it or never will, and a list that is requested later shows which.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, TypeAlias

import attrs

from sitestats._base.errors import (
    NotTheServiceError,
    RateLimitedError,
    SiteStatsError,
    StatusError,
    TransportError,
    WebsiteLockedError,
    warn,
)
from sitestats._protocol import operations
from sitestats._protocol.flow import Clock, Flow, Note, Sleep, now
from sitestats._protocol.session import Session
from sitestats._reading.errors import is_about_account
from sitestats._results.websites import AddedWebsite, Website

from ._report import ProvisionedWebsite, ProvisioningReport, State, item_of, message_of
from ._specs import WebsiteSpec, as_added, by_hostname, differences_of, normalised

_FIRST_PAUSE: Final = 1.0
"""Seconds before the list is read again for a pending add; then twice that."""
# The service refuses the credentials, the payment or the permission.
_ACCOUNT_STATUSES: Final = frozenset((401, 402, 403))
# A gateway stopped waiting, or the service failed: it may have added the website.
_MAYBE_ADDED: Final = frozenset((408, *range(500, 1000)))


Record: TypeAlias = dict[str, Any]
"""A line of the journals, whose ``event`` is one of these:

* ``"sending"``: an add is sent as soon as this is written, and the service is certainly
  done with it ``timeout`` seconds later;
* ``"settled"``: the add has this ``state``;
* ``"ended"``: the caller gets the report.
"""


# --- the flow -----------------------------------------------------------------------


@attrs.define
class EnsureFlow:
    """Adds the missing ones of the specifications, and reports on each of them."""

    _session: Session
    _specs: tuple[WebsiteSpec, ...]
    _pending: Mapping[str, float]
    """Adds that were announced and have no outcome, each with the time of the system
    clock until which it may be pending."""
    _added_before: frozenset[str]
    """Host names that an interrupted run added."""
    _listed: dict[str, Website] = attrs.field(factory=dict[str, "Website"])
    _added: dict[str, AddedWebsite] = attrs.field(factory=dict[str, "AddedWebsite"])
    _stopped: SiteStatsError | None = None
    _list_is_old: bool = False
    """Whether an add was sent since the list was read, and it can be read again."""
    _rate_limits: int = 0

    def run(self) -> Flow[ProvisioningReport]:
        """The flow.

        Raises:
            SiteStatsError: The list can't be read; nothing was added.
        """
        yield from self._wait_for_pending_adds()
        items: list[ProvisionedWebsite] = []
        for spec in self._specs:
            item = yield from self._ensure(spec)
            items.append(item)
            yield Note(item)
        yield from self._read_list_again(items)
        yield from self._record("ended")
        return ProvisioningReport(tuple(items), self._stopped)

    # --- before ---------------------------------------------------------------

    def _read_list(self) -> Flow[None]:
        websites = yield from operations.list_websites(self._session)
        self._listed, error = by_hostname(websites)
        self._list_is_old = False
        self._stop(error)

    def _wait_for_pending_adds(self) -> Flow[None]:
        """Read the list until no add of an interrupted run can be pending."""
        pause, clock, moment = _FIRST_PAUSE, Clock(), (yield from now())
        # Somebody may set the system clock meanwhile.
        shift = moment.monotonic - moment.unix
        time = moment.monotonic
        yield from self._read_list()
        while pending := {
            spec.hostname: self._pending[spec.hostname] + shift
            for spec in self._specs
            if spec.hostname in self._pending and spec.hostname not in self._listed
        }:
            # A list that was requested earlier may lack new websites.
            left = max(pending.values()) - time
            if left <= 0:
                return
            if pause == _FIRST_PAUSE:
                warn(
                    f"an earlier run sent {', '.join(pending)}, and the list does not "
                    "show it yet: it may still be under way, so this waits up to "
                    f"{left:.0f} seconds"
                )
            yield from clock.sleep(min(left, pause))
            time = yield from clock.now()
            yield from self._read_list()
            pause *= 2

    # --- one website ------------------------------------------------------------

    def _ensure(self, spec: WebsiteSpec) -> Flow[ProvisionedWebsite]:
        name = spec.hostname
        was_added = name in self._added_before
        found = self._find(spec, was_sent=name in self._pending or was_added)
        if found is not None:
            if name in self._pending:
                yield from self._settle(found)
            return found
        if self._stopped is not None:
            return ProvisionedWebsite(spec, "not_tried")
        if was_added:
            error = SiteStatsError(
                "an interrupted run added it, says the journal, and it is not in the "
                "list: look in the service's dashboard, and run this again"
            )
            return ProvisionedWebsite(spec, "unknown", error=error)
        timeout = self._session.settings.total_timeout
        if not (yield from self._record("sending", hostname=name, timeout=timeout)):
            return ProvisionedWebsite(spec, "not_tried")
        item = yield from self._add(spec)
        yield from self._settle(item)
        return item

    def _add(self, spec: WebsiteSpec) -> Flow[ProvisionedWebsite]:
        self._list_is_old = True
        expected = as_added(spec)
        try:
            added = yield from operations.add_website(
                self._session,
                spec.hostname,
                timezone=expected.timezone,
                public=bool(expected.public),
                label=spec.label,
                # A warning may be raised as an error, although the website was
                # added; the report has the differences.
                warned=False,
            )
        except SiteStatsError as error:
            return (yield from self._after_error(spec, error))
        self._rate_limits = 0
        # Both names are recorded, so that neither is added later in the list.
        self._added[spec.hostname] = self._added[normalised(added.hostname)] = added
        return ProvisionedWebsite(spec, "added", added, differences_of(expected, added))

    def _after_error(
        self, spec: WebsiteSpec, error: SiteStatsError
    ) -> Flow[ProvisionedWebsite]:
        """The item for *spec* after its add raised *error*."""
        if _is_account_wide(error, spec.hostname):
            self._stop(_introduced("every website would be refused for this", error))
        # The service certainly did not add the website.
        if isinstance(error, StatusError) and error.status_code not in _MAYBE_ADDED:
            if isinstance(error, RateLimitedError):
                yield from self._wait_after_rate_limit(error)
            return ProvisionedWebsite(spec, "refused", error=error)
        sent = not isinstance(error, TransportError) or error.maybe_sent
        try:
            yield from self._read_list()
        except SiteStatsError as failure:
            self._list_is_old = False
            self._stop(_introduced("the list can't be read back", failure))
        else:
            found = self._find(spec, was_sent=sent, error=error)
            if found is not None:
                return found
        state: State = "unknown" if sent else "not_tried"
        return ProvisionedWebsite(spec, state, error=error)

    def _find(
        self, spec: WebsiteSpec, *, was_sent: bool, error: SiteStatsError | None = None
    ) -> ProvisionedWebsite | None:
        """The item for *spec* if its website exists, else None."""
        item = item_of(spec, self._listed.get(spec.hostname))
        if item is not None and item.state != "unknown":
            state = "added" if was_sent else item.state
            return attrs.evolve(item, state=state, error=error or item.error)
        return item or item_of(spec, self._added.get(spec.hostname))

    def _wait_after_rate_limit(self, error: RateLimitedError) -> Flow[None]:
        """Wait as long as the service asks; stop if that is too long."""
        self._rate_limits += 1
        policy = self._session.settings.retry
        seconds = max(policy.wait(self._rate_limits), error.retry_after or 0.0)
        if (
            self._rate_limits > policy.retries
            or seconds >= self._session.settings.total_timeout
        ):
            when = f"try again in {math.ceil(seconds):,} s"
            self._stop(_introduced(f"{when}, after the pause of a rate limit", error))
        else:
            yield Sleep(seconds)

    # --- after ------------------------------------------------------------------

    def _read_list_again(self, items: list[ProvisionedWebsite]) -> Flow[None]:
        """Read the list once more for websites that were refused or are unknown.

        The service may have processed an unknown add by now, and a refused website
        may have existed already.
        """
        uncertain = {
            index: item
            for index, item in enumerate(items)
            if item.state in {"refused", "unknown"} and item.website is None
        }
        if uncertain and self._list_is_old:
            with suppress(SiteStatsError):
                yield from self._read_list()
        for index, item in uncertain.items():
            was_sent = item.state == "unknown"
            found = self._find(item.spec, was_sent=was_sent, error=item.error)
            if found is not None:
                items[index] = found
                yield from self._settle(found)

    def _settle(self, item: ProvisionedWebsite) -> Flow[None]:
        outcome = {"state": item.state, "message": message_of(item.error)}
        yield from self._record("settled", hostname=item.hostname, **outcome)

    def _record(self, event: str, **values: object) -> Flow[bool]:
        """Record *event*; if a journal can't be written nothing more is sent."""
        try:
            yield Note(Record(event=event, **values))
        except SiteStatsError as error:
            self._stop(error)
            return False
        return True

    def _stop(self, why: SiteStatsError | None) -> None:
        if self._stopped is None:
            self._stopped = why


# --- what an error means ------------------------------------------------------------


def _is_account_wide(error: SiteStatsError, hostname: str) -> bool:
    """Whether every other website would be refused for the same reason.

    The service's document gives neither statuses nor messages for a missing role or a
    reached website limit (section 7), and every refusal may be a 400. So the message
    counts too, without the *hostname*: ``plan.example`` is a valid name.
    """
    # The class of an error may come from the words of its message, which contains
    # the host name: so the status counts, and then the other words.
    if not isinstance(error, StatusError) or isinstance(error, WebsiteLockedError):
        return False
    if isinstance(error, NotTheServiceError):
        # What is on the way would answer for every other website too.
        return True
    message = re.sub(re.escape(hostname), "", error.message, flags=re.IGNORECASE)
    return error.status_code in _ACCOUNT_STATUSES or is_about_account(message)


def _introduced(what: str, error: SiteStatsError) -> SiteStatsError:
    """A copy of *error* whose message begins with *what* the error means for a run."""
    copied, text = copy.copy(error), f"{what}: {message_of(error)}"
    if "message" in vars(copied):
        vars(copied)["message"] = text
    else:
        copied.args = (text,)
    return copied
