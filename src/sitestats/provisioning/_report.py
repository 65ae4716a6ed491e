"""Report: what a run of ``ensure`` did with each website."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

import attrs

from sitestats._common.errors import SiteStatsError
from sitestats._common.text import counted
from sitestats._results.websites import AddedWebsite, Website

from ._items import COLUMNS, Item, Items, Row
from ._refusals import message_of

State: TypeAlias = Literal[
    "added", "present", "differing", "refused", "unknown", "not_tried"
]
STATES: Final[tuple[State, ...]] = get_args(State)


def _compared(error: SiteStatsError | None) -> object:
    # Exceptions are equal to themselves alone; reports are values.
    return None if error is None else (type(error), str(error))


def _message(error: SiteStatsError | None) -> str | None:
    return None if error is None else message_of(error)


@attrs.frozen
class ProvisionedWebsite(Item[State, Website | AddedWebsite]):
    """One website of a report.

    ``website`` is as the list has it, or as the service responded to the add.
    A website that was just added may have ``differences`` too. ``state`` is one of:

    * ``"added"``: it was added, by this run or by the interrupted one that this
      run continues;
    * ``"present"``: it existed already, as specified;
    * ``"differing"``: it existed already, and differs;
    * ``"refused"``: the service refused the add, and ``error`` says why;
    * ``"unknown"``: an add was sent, got no valid response, and the website is
      not in the list (yet);
    * ``"not_tried"``: no add of it reached the service.
    """

    error: SiteStatsError | None = attrs.field(default=None, eq=_compared)
    """What went wrong. An ambiguous failure stays here when the list shows
    that the website was added all the same."""

    def row(self) -> Row:
        """This item for frames and CSV, with the differences as text."""
        return {**super().row(), "error": _message(self.error)}

    def detail(self) -> str:
        """What there is to say beyond the state; often nothing."""
        return "; ".join(filter(None, [super().detail(), _message(self.error)]))


@attrs.frozen(repr=False)
class ProvisioningReport(Items[ProvisionedWebsite]):
    """What became of every website given to ``ensure``, in the given order.

    It is a value: it prints as one line for each website, pickles, and goes
    into JSON and frames.

    Example:
        >>> from sitestats import WebsiteSpec
        >>> report = client.websites.ensure([WebsiteSpec("shop.example")])
        >>> report.complete, [item.hostname for item in report.added]
        (True, ['shop.example'])
        >>> report.to_dict()["items"][0]["state"]
        'added'
    """

    stopped: SiteStatsError | None = attrs.field(default=None, eq=_compared)
    """The error that ended the run before its last website; None when it did not. Its
    class is that of what went wrong, and a ``ConfigurationError`` is the journal's."""
    not_excluded: tuple[str, ...] = ()
    """What might have added a website a second time all the same: what this run could
    neither prevent nor notice. It is printed if there are ``unknown`` websites."""

    _columns: ClassVar[tuple[str, ...]] = (*COLUMNS, "error")

    @property
    def added(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that were added: what an invoice may show."""
        return self._in_state("added")

    @property
    def refused(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that the service refused, each with its message."""
        return self._in_state("refused")

    @property
    def unknown(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that may or may not exist by now: look before you pay."""
        return self._in_state("unknown")

    @property
    def not_tried(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites of which no add reached the service."""
        return self._in_state("not_tried")

    def to_dict(self) -> dict[str, Any]:
        """For JSON: ``complete``, ``stopped``, ``not_excluded``, and ``items`` with
        one object each.

        Their ``differences`` are a list of objects with ``field``, ``expected`` and
        ``found``.
        """
        return {
            "complete": self.complete,
            "stopped": _message(self.stopped),
            "not_excluded": list(self.not_excluded),
            **super().to_dict(),
        }

    def summary(self) -> str:
        """How many websites there are of each state, as one line."""
        states = {item.state for item in self.items}
        counts = self._counts(tuple(s for s in STATES if s in states))
        return f"{counted(len(self.items), 'website')}: {counts or 'nothing to do'}"

    def _notes(self) -> list[str]:
        stopped = [f"stopped: {why}"] if (why := _message(self.stopped)) else []
        open_ = self.not_excluded if self.unknown else ()
        risks = [f"can't be excluded: {text}" for text in open_]
        return stopped + super()._notes() + risks
