"""What plans and reports share: items by state, as rows, tables, text and frames."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Final, Generic, TypeAlias, TypeVar

import attrs

from sitestats._results.display import Displayed, Table
from sitestats._results.tables import named, of_rows

from ._differences import BY_HAND, Difference, as_added
from ._specs import WebsiteSpec

StateT = TypeVar("StateT", bound=str)
WebsiteT = TypeVar("WebsiteT")
ItemT = TypeVar("ItemT", bound="Item[Any, Any]")

Row: TypeAlias = dict[str, str | bool | None]
"""One website for frames and CSV."""

COLUMNS: Final = (
    *("hostname", "written", "state", "timezone", "public", "label", "differences"),
)
"""The columns of a frame, which are the names of a row."""
_HEADINGS: Final = ("", "state", "timezone", "public", "label", "")


@attrs.frozen
class Item(Generic[StateT, WebsiteT]):
    """One website of a plan or a report."""

    spec: WebsiteSpec
    """The website as it should be."""
    state: StateT
    """One of the states above."""
    website: WebsiteT | None = None
    """The website as the service has it; None where it has none."""
    differences: tuple[Difference, ...] = ()
    """Where the website is different from its specification."""

    @property
    def hostname(self) -> str:
        """The specification's host name, as it is sent."""
        return self.spec.hostname

    @property
    def names(self) -> str:
        """The host name as it is sent, and as it was given where that was not ASCII.

        >>> from sitestats import WebsiteSpec
        >>> print(client.websites.plan([WebsiteSpec("bücher.example")]))
        1 website: 1 to add, 0 present, 0 differing
        to add     xn--bcher-kva.example (bücher.example)  UTC, private
        """
        written = self.spec.written
        return self.hostname if written.isascii() else f"{self.hostname} ({written})"

    @property
    def wanted(self) -> WebsiteSpec:
        """The specification; of a website that is to be added, with the defaults for
        what it leaves out.
        """
        is_there = self.state in {"present", "differing"}
        return self.spec if is_there else as_added(self.spec)

    @property
    def as_specified(self) -> bool:
        """Whether the website exists, and is as its specification wants or accepts."""
        if self.state == "differing" or self.differences:
            return self.spec.accept_differing
        return self.state in {"added", "present"}

    def row(self) -> Row:
        """This item for frames and CSV, with the differences as text."""
        return {
            "hostname": self.hostname,
            "written": self.spec.written,
            "state": self.state,
            "timezone": self.wanted.timezone,
            "public": self.wanted.public,
            "label": self.spec.label,
            "differences": "; ".join(map(str, self.differences)) or None,
        }

    def to_dict(self) -> dict[str, Any]:
        """This item for JSON; ``differences`` are a list of objects with ``field``,
        ``expected`` and ``found``.
        """
        return {
            **self.row(),
            "differences": [one.to_dict() for one in self.differences],
        }

    def detail(self) -> str:
        """What there is to say beyond the state; often nothing."""
        return "; ".join(map(str, self.differences))


@attrs.frozen(repr=False)
class Items(Displayed, Generic[ItemT]):
    """One item for each specification: the base of plans and reports."""

    items: tuple[ItemT, ...]
    """One for each specification, in the given order."""

    _columns: ClassVar[tuple[str, ...]] = COLUMNS

    @property
    def present(self) -> tuple[ItemT, ...]:
        """The websites that existed already, as specified."""
        return self._in_state("present")

    @property
    def differing(self) -> tuple[ItemT, ...]:
        """The websites that existed already, and differ.

        No endpoint changes a website: change it by hand, in the service's
        dashboard.
        """
        return self._in_state("differing")

    @property
    def complete(self) -> bool:
        """Whether every website exists, and is as specified or may differ."""
        return all(item.as_specified for item in self.items)

    @abstractmethod
    def summary(self) -> str:
        """How many websites there are of each state, as one line."""

    def to_dict(self) -> dict[str, Any]:
        """For JSON: ``complete``, and ``items`` with one object each.

        Their ``differences`` are a list of objects with ``field``, ``expected`` and
        ``found``.
        """
        return {
            "complete": self.complete,
            "items": [item.to_dict() for item in self.items],
        }

    def to_pandas(self) -> Any:
        """A pandas data frame with one row for each website.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        rows = [item.row() for item in self.items]
        columns = [named(name, [row[name] for row in rows]) for name in self._columns]
        # A flag without gaps is a plain bool; this column has always been nullable.
        return Table("websites", columns).to_pandas().astype({"public": "boolean"})

    def _in_state(self, state: str) -> tuple[ItemT, ...]:
        return tuple(item for item in self.items if item.state == state)

    def _counts(self, states: tuple[str, ...]) -> str:
        counts = (f"{len(self._in_state(s))} {words_of(s)}" for s in states)
        return ", ".join(counts)

    def _line_detail(self, item: ItemT) -> str:
        return item.detail()

    def _notes(self) -> list[str]:
        """What there is to say below the last website."""
        differ = (item.differences and not item.as_specified for item in self.items)
        return [BY_HAND] if any(differ) else []

    def _displayed(self) -> Table:
        # A long table is shortened, so what needs attention comes first.
        items = sorted(self.items, key=lambda item: item.as_specified)
        rows = [
            (
                *(item.names, words_of(item.state), item.wanted.timezone),
                *(item.wanted.public, item.spec.label, item.detail() or None),
            )
            for item in items
        ]
        columns = of_rows(_HEADINGS, rows)
        return Table(self.summary(), columns, "; ".join(self._notes()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.summary()}>"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *self._lines(self.items), *self._notes()])

    def changes(self) -> str:
        """The same text as ``str`` gives, without the websites that are as specified
        and were so before.

        >>> from sitestats import WebsiteSpec
        >>> spec = WebsiteSpec("semicomplete.com", public=True)
        >>> print(client.websites.ensure([spec]).changes())
        1 website: 1 present
        """
        return "\n".join([self.summary(), *self._lines(self.changed), *self._notes()])

    def problems(self) -> str:
        """The same text with the websites alone that are not as specified."""
        wrong = tuple(item for item in self.items if not item.as_specified)
        return "\n".join([self.summary(), *self._lines(wrong), *self._notes()])

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        """The names of the values of a row."""
        return cls._columns

    @property
    def changed(self) -> tuple[ItemT, ...]:
        """The websites that are not ``present``: what a run added or would add, and
        what somebody has to look at.
        """
        return tuple(item for item in self.items if item.state != "present")

    def _lines(self, items: tuple[ItemT, ...]) -> list[str]:
        width = max((len(item.names) for item in items), default=0)
        return [
            f"{words_of(item.state):9}  {item.names:{width}}  "
            f"{self._line_detail(item)}".rstrip()
            for item in items
        ]


def words_of(state: str) -> str:
    """``"not tried"`` for ``"not_tried"``."""
    return state.replace("_", " ")
