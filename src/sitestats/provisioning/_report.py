"""What a run of ``ensure`` did, for every website that it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import attrs

from sitestats._display import HasSheet as Shown
from sitestats._errors import SiteStatsError

from ._plan import BY_HAND, SHOWN, Difference, counted
from ._refusals import told
from ._tables import Row, to_frame

if TYPE_CHECKING:
    from sitestats._models import AddedWebsite, Website
    from sitestats._tables import Sheet

    from ._specs import WebsiteSpec

State: TypeAlias = Literal[
    "added", "present", "differing", "refused", "unknown", "not_tried"
]
STATES: Final[tuple[State, ...]] = (
    "added",
    "present",
    "differing",
    "refused",
    "unknown",
    "not_tried",
)


def _compared(error: SiteStatsError | None) -> object:
    # Exceptions are equal to themselves alone; reports are values.
    return None if error is None else (type(error), str(error))


@attrs.frozen
class ProvisionedWebsite:
    """What a report says of one website."""

    spec: WebsiteSpec
    state: State
    """One of:

    * ``"added"``: it was added, by this run or by the interrupted one that this
      run continues;
    * ``"present"``: it was there, as specified;
    * ``"differing"``: it was there, and differs;
    * ``"refused"``: the service said no, and ``error`` says why;
    * ``"unknown"``: an add was sent, got no good answer, and the website is not
      in the list (yet);
    * ``"not_tried"``: no add of it reached the service.
    """
    website: Website | AddedWebsite | None = None
    """As the list has it, or as the service answered the add."""
    differences: tuple[Difference, ...] = ()
    """Where it is not as specified, of a website that was just added too."""
    error: SiteStatsError | None = attrs.field(default=None, eq=_compared)
    """What went wrong. An ambiguous failure stays here when the list shows
    that the website was added all the same."""

    @property
    def hostname(self) -> str:
        """The specification's host name."""
        return self.spec.hostname

    @property
    def as_specified(self) -> bool:
        """Whether the website exists and is as its specification wants it."""
        return self.state in {"added", "present"} and not self.differences

    def row(self) -> Row:
        """This item for tables and JSON."""
        return {
            "hostname": self.hostname,
            "state": self.state,
            "timezone": self.spec.timezone,
            "public": self.spec.public,
            "label": self.spec.label,
            "differences": "; ".join(map(str, self.differences)) or None,
            "error": None if self.error is None else told(self.error),
        }

    def detail(self) -> str:
        """What is to be said beyond the state; often nothing."""
        found = [str(difference) for difference in self.differences]
        if self.error is not None:
            found.append(told(self.error))
        return "; ".join(found)


@attrs.frozen(repr=False)
class ProvisioningReport(Shown):
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

    items: tuple[ProvisionedWebsite, ...]
    """One for each specification, in the given order."""
    stopped: str | None = None
    """Why the run ended before its last website, as one sentence; None when it
    did not."""

    @property
    def added(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that were added: what an invoice may show."""
        return self._in_state("added")

    @property
    def present(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that were there, as specified."""
        return self._in_state("present")

    @property
    def differing(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that were there and differ; change them by hand."""
        return self._in_state("differing")

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

    @property
    def complete(self) -> bool:
        """Whether every website exists and is as specified."""
        return all(item.as_specified for item in self.items)

    def to_dict(self) -> dict[str, Any]:
        """The report for JSON: ``complete``, ``stopped``, and ``items``."""
        return {
            "complete": self.complete,
            "stopped": self.stopped,
            "items": [item.row() for item in self.items],
        }

    def to_pandas(self) -> Any:
        """A pandas data frame with one line for each website.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return to_frame([item.row() for item in self.items], REPORT_COLUMNS)

    def summary(self) -> str:
        """How many websites there are of each state, as one line."""
        counts = ", ".join(
            f"{len(found)} {state.replace('_', ' ')}"
            for state in STATES
            if (found := self._in_state(state))
        )
        return f"{counted(len(self.items))}: {counts or 'nothing to do'}"

    def _in_state(self, state: State) -> tuple[ProvisionedWebsite, ...]:
        return tuple(item for item in self.items if item.state == state)

    def __repr__(self) -> str:
        return f"<ProvisioningReport of {self.summary()}>"

    def _sheet(self) -> Sheet:
        from sitestats._tables import Sheet

        # A long report is shortened: what needs a look is not to be left out.
        items = sorted(self.items, key=lambda item: item.as_specified)
        rows = [
            (
                *(item.hostname, item.state.replace("_", " "), item.spec.timezone),
                *(item.spec.public, item.spec.label, item.detail() or None),
            )
            for item in items
        ]
        stopped = "" if self.stopped is None else f"stopped: {self.stopped}"
        by_hand = BY_HAND if any(item.differences for item in self.items) else ""
        note = "; ".join(filter(None, [stopped, by_hand]))
        return Sheet(self.summary(), SHOWN, rows, note)

    def __str__(self) -> str:
        lines = [self.summary()]
        width = max((len(item.hostname) for item in self.items), default=0)
        for item in self.items:
            state = item.state.replace("_", " ")
            line = f"{state:9}  {item.hostname:{width}}  {item.detail()}"
            lines.append(line.rstrip())
        if self.stopped is not None:
            lines.append(f"stopped: {self.stopped}")
        if any(item.differences for item in self.items):
            lines.append(BY_HAND)
        return "\n".join(lines)


REPORT_COLUMNS: Final = {
    "hostname": "str",
    "state": "str",
    "timezone": "str",
    "public": "bool",
    "label": "str",
    "differences": "str",
    "error": "str",
}
