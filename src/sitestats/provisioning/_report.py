"""What ``ensure`` would do with each website, and what it did: plans and reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final, Literal, Never, TypeAlias, get_args

import attrs

from sitestats._base.errors import InvalidResponseError, SiteStatsError, StatusError
from sitestats._base.text import counted, shown
from sitestats._results.bases import Displayed, HasRows, Table
from sitestats._results.tables import Column, of_rows
from sitestats._results.websites import AddedWebsite, Website, WebsiteList
from sitestats._wire.values import Value

from ._specs import Difference, WebsiteSpec, as_added, by_hostname, differences_of

State: TypeAlias = Literal[
    "to_add", "added", "present", "differing", "refused", "unknown", "not_tried"
]
_BY_HAND: Final = (
    "the service's API can't change a website: change these by hand, in the "
    "website's settings in the service's dashboard"
)
_HEADINGS: Final = ("", "state", "timezone", "public", "label", "")
_COLUMNS: Final = (
    "hostname",
    "written",
    "state",
    "timezone",
    "public",
    "label",
    "differences",
    "error",
)
"""The names of a row."""
_MOST_NAMED: Final = 5


def message_of(error: SiteStatsError | None) -> str | None:
    """What went wrong, on one line: the service's own message if there is one."""
    text = error.message if isinstance(error, StatusError) else str(error)
    return None if error is None else " ".join(text.split())


@attrs.frozen
class ProvisionedWebsite(Value):
    """One website of a plan or a report.

    Its ``state`` is one of:

    * ``"to_add"``, in a plan: it does not exist, and would be added;
    * ``"added"``: this run added it, or an interrupted one before it; it may have
      ``differences``, too;
    * ``"present"``: it already existed, as specified;
    * ``"differing"``: it already existed, and differs;
    * ``"refused"``: the service refused it, and ``error`` says why;
    * ``"unknown"``: the request got no valid response, and the website is not in the
      list (yet); or a specified value can't be read, and no other one differs; or, in a
      plan, it may be a website of the list whose host name can't be read;
    * ``"not_tried"``: no request to add it reached the service.
    """

    _worked_out: ClassVar[tuple[str, ...]] = ("hostname", "expected", "as_specified")

    spec: WebsiteSpec
    """The website as it should be."""
    state: State
    """One of the states above."""
    website: Website | AddedWebsite | None = None
    """The website in the list or in the response to its add, or None."""
    differences: tuple[Difference, ...] = ()
    """The values that differ from the specification."""
    error: SiteStatsError | None = None
    """The error of the request, even if the list shows that the website was added."""

    @property
    def hostname(self) -> str:
        """The specification's host name, as it is sent."""
        return self.spec.hostname

    @property
    def names(self) -> str:
        """The host name as it is sent, and as it was given where that was not ASCII.

        >>> from sitestats import WebsiteSpec
        >>> print(client.websites.plan([WebsiteSpec("bücher.example")]))
        1 website: 1 to add
        to add     xn--bcher-kva.example (bücher.example)  UTC, private
        """
        written = self.spec.written
        return self.hostname if written.isascii() else f"{self.hostname} ({written})"

    @property
    def expected(self) -> WebsiteSpec:
        """The specification. If the website does not exist yet, the values that it
        leaves out have their defaults.
        """
        is_there = self.website is not None and self.state != "added"
        return self.spec if is_there else as_added(self.spec)

    @property
    def as_specified(self) -> bool:
        """Whether the website exists, and is as its specification wants or accepts."""
        if self.state == "differing" or self.differences:
            return self.spec.accept_differing
        return self.state in {"added", "present"}

    def row(self) -> dict[str, str | bool | None]:
        """This item for frames and CSV, with the differences as text."""
        return {
            "hostname": self.hostname,
            "written": self.spec.written,
            "state": self.state,
            "timezone": self.expected.timezone,
            "public": self.expected.public,
            "label": self.spec.label,
            "differences": "; ".join(map(str, self.differences)) or None,
            "error": message_of(self.error),
        }

    def detail(self) -> str:
        """The text beside the state; often it is empty."""
        if self.state == "to_add":
            visibility = "public" if self.expected.public else "private"
            label = (
                "" if self.spec.label is None else f", label {shown(self.spec.label)}"
            )
            return f"{self.expected.timezone}, {visibility}{label}"
        texts = [*map(str, self.differences), message_of(self.error)]
        return "; ".join(filter(None, texts))


@attrs.frozen(repr=False)
class _Items(HasRows[Never], Displayed, Value):
    """One item for each specification: what plans and reports have in common.

    A plan and a report have a length, and can be iterated.
    """

    _worked_out: ClassVar[tuple[str, ...]] = ("complete",)

    items: tuple[ProvisionedWebsite, ...]
    """The outcome of each specification, in the given order."""

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[ProvisionedWebsite]:
        return iter(self.items)

    @property
    def present(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that existed already, as specified."""
        return self._in_state("present")

    @property
    def differing(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that existed already, and differ.

        No endpoint changes a website: change it by hand, in the service's
        dashboard.
        """
        return self._in_state("differing")

    @property
    def changed(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that are not ``present``: a run added or would add them, or
        somebody has to look at them.
        """
        return tuple(item for item in self.items if item.state != "present")

    @property
    def complete(self) -> bool:
        """Whether every website exists, and is as specified or may differ."""
        return all(item.as_specified for item in self.items)

    def summary(self) -> str:
        """How many websites there are of each state, as one line."""
        counts = Counter(item.state for item in self.items)
        states = [
            f"{counts[state]:,} {state.replace('_', ' ')}"
            for state in get_args(State)
            if state in counts
        ]
        websites = counted(len(self.items), "website")
        return f"{websites}: {', '.join(states) or 'nothing to do'}"

    def changes(self) -> str:
        """The text of ``str``, without the websites that are ``present``.

        >>> from sitestats import WebsiteSpec
        >>> spec = WebsiteSpec("semicomplete.com", public=True)
        >>> print(client.websites.ensure([spec]).changes())
        1 website: 1 present
        """
        return self._text(self.changed)

    def __str__(self) -> str:
        return self._text(self.items)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.summary()}>"

    def _in_state(self, state: State) -> tuple[ProvisionedWebsite, ...]:
        return tuple(item for item in self.items if item.state == state)

    def _notes(self) -> list[str]:
        """The notes below the last website."""
        differ = (item.differences and not item.as_specified for item in self.items)
        return [_BY_HAND] if any(differ) else []

    def _text(self, items: tuple[ProvisionedWebsite, ...]) -> str:
        width = max((len(item.names) for item in items), default=0)
        lines = [
            f"{item.state.replace('_', ' '):9}  {item.names:{width}}  {item.detail()}"
            for item in items
        ]
        return "\n".join([self.summary(), *map(str.rstrip, lines), *self._notes()])

    def _table(self, _field: None = None) -> Sequence[Column]:
        return of_rows(_COLUMNS, [[*item.row().values()] for item in self.items])

    def _tables(self) -> Sequence[Table]:
        return [Table("websites", self._table())]

    def _displayed(self) -> Table:
        # A long table is shortened, so what needs attention comes first.
        items = sorted(self.items, key=lambda item: item.as_specified)
        rows = [
            (
                item.names,
                item.state.replace("_", " "),
                item.expected.timezone,
                item.expected.public,
                item.spec.label,
                item.detail() or None,
            )
            for item in items
        ]
        return Table(self.summary(), of_rows(_HEADINGS, rows), "; ".join(self._notes()))


@attrs.frozen(repr=False)
class ProvisioningPlan(_Items):
    """What ``ensure`` would do: ``client.websites.plan(specs)``.

    Its text has a line for each website. It converts to JSON and to frames.

    Example:
        >>> from sitestats import WebsiteSpec
        >>> specs = [WebsiteSpec("semicomplete.com"), WebsiteSpec("new.example")]
        >>> plan = client.websites.plan(specs)
        >>> [item.hostname for item in plan.to_add]
        ['new.example']
    """

    @property
    def to_add(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites that do not exist: each would be added."""
        return self._in_state("to_add")


@attrs.frozen(repr=False)
class ProvisioningReport(_Items):
    """The outcome for every website given to ``ensure``, in the given order.

    Its text has a line for each website. It can be pickled, and converts to JSON and to
    frames.

    Example:
        >>> from sitestats import WebsiteSpec
        >>> report = client.websites.ensure([WebsiteSpec("shop.example")])
        >>> report.complete, [item.hostname for item in report.added]
        (True, ['shop.example'])
        >>> report.to_dict()["items"][0]["state"]
        'added'
    """

    stopped: SiteStatsError | None = None
    """The error that ended the run before its last website, or None. A
    ``ConfigurationError`` is about the journal."""

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
        """The websites that may or may not exist, or be as specified, by now."""
        return self._in_state("unknown")

    @property
    def not_tried(self) -> tuple[ProvisionedWebsite, ...]:
        """The websites whose request did not reach the service."""
        return self._in_state("not_tried")

    def raise_for_failures(self) -> None:
        """Raise an error unless the report is ``complete``, so that a task fails.

        Raises:
            SiteStatsError: Its text has the first websites that are not as specified,
                and their number.

        >>> from sitestats import WebsiteSpec
        >>> client.websites.ensure([WebsiteSpec("shop.example")]).raise_for_failures()
        """
        if wrong := [item for item in self.items if not item.as_specified]:
            lines = [
                f"{item.hostname}: {item.detail() or item.state.replace('_', ' ')}"
                for item in wrong[:_MOST_NAMED]
            ]
            raise SiteStatsError(
                f"{len(wrong):,} of {counted(len(self.items), 'website')} are not as "
                f"specified: {'; '.join(lines)}"
            )

    def _notes(self) -> list[str]:
        stopped = (
            [] if self.stopped is None else [f"stopped: {message_of(self.stopped)}"]
        )
        return stopped + super()._notes()


def plan_websites(
    specs: Iterable[WebsiteSpec], websites: WebsiteList
) -> ProvisioningPlan:
    """Compare *specs* with *websites*, the service's list."""
    listed, error = by_hostname(websites)
    return ProvisioningPlan(
        tuple(
            item_of(spec, listed.get(spec.hostname))
            or ProvisionedWebsite(spec, "unknown" if error else "to_add", error=error)
            for spec in specs
        )
    )


def item_of(
    spec: WebsiteSpec, website: Website | AddedWebsite | None
) -> ProvisionedWebsite | None:
    """The item of a website that exists; None without a website."""
    if website is None:
        return None
    differences = differences_of(spec, website)
    names = (name.removeprefix("is_") for name in getattr(website, "unknown", ()))
    unread = ", ".join(n for n in names if getattr(spec, n, None) is not None)
    error = InvalidResponseError(f"{unread} can't be read") if unread else None
    state: State = "unknown" if unread else "present"
    if differences:
        state = "differing"
    return ProvisionedWebsite(spec, state, website, differences, error)
