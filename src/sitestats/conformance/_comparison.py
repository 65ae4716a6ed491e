"""``ServiceComparison``: what a service does as the emulator does, and what not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Literal

import attrs

if TYPE_CHECKING:
    from sitestats._common.jsontext import JsonValue

_MARKS: Final = {"same": "✓", "different": "✗", "not decided": "-"}


@attrs.frozen
class CaseDifference:
    """One place in which the service and the emulator differ."""

    where: str
    """Such as ``"status"``, ``"$.end"`` or ``"[].value"``."""
    service: str
    """What the service has, without host names and numbers of visitors."""
    emulator: str
    """What the emulator has."""


@attrs.frozen
class ComparedCase:
    """One case: a question, and what was found."""

    name: str
    """Such as ``"period"``."""
    section: str
    """The section of the service's document that it is about."""
    decides: str
    """The question."""
    rule: str
    """The rules of the emulator and of the client that rest on it."""
    result: Literal["same", "different", "not decided"] = "not decided"
    """Whether both do the same; what can't be compared is not decided."""
    why: str = ""
    """Why it is not decided."""
    differences: tuple[CaseDifference, ...] = ()
    """What differs."""

    def __str__(self) -> str:
        lines = [
            f"{_MARKS[self.result]} {self.name:24} {self.decides} ({self.section})"
        ]
        if self.why:
            lines.append(f"    not decided: {self.why}")
        lines += [
            f"    {one.where}: {one.service}; emulator: {one.emulator}"
            for one in self.differences
        ]
        if self.differences:
            lines.append(f"    it touches {self.rule}")
        return "\n".join(lines)


@attrs.frozen
class ServiceComparison:
    """What a service does as the emulator does, case by case.

    >>> from sitestats.conformance import compare_service
    >>> comparison = compare_service(client, "semicomplete.com", pause=0)
    >>> comparison.cases[0].name, comparison.cases[0].result
    ('list-envelope', 'same')
    """

    cases: tuple[ComparedCase, ...]
    """Every case, in the order of the document."""
    not_tried: Sequence[Mapping[str, str]]
    """What only a write or a lock could tell: its section, what it is, and why not."""
    options: Mapping[str, bool]
    """The options of ``Emulator`` that make it follow the service."""
    requests: int
    """How many requests were sent."""
    ended: str = ""
    """Why not everything was requested; empty if it was."""

    @property
    def different(self) -> tuple[ComparedCase, ...]:
        """The cases in which the service differs."""
        return tuple(case for case in self.cases if case.result == "different")

    def to_dict(self) -> dict[str, JsonValue]:
        """The report, ready for JSON: it has no credential and no host name."""
        return attrs.asdict(self)

    def __str__(self) -> str:
        found = {
            name: [str(case) for case in self.cases if case.result == name]
            for name in _MARKS
        }
        tried = [f"- not tried: {one['what']}: {one['why']}" for one in self.not_tried]
        # What differs stands last, where a terminal shows it.
        lines = [*found["same"], *found["not decided"], *tried, *found["different"]]
        lines.append(", ".join(f"{len(rows)} {name}" for name, rows in found.items()))
        if self.ended:
            lines.append(f"not everything was requested: {self.ended}")
        if self.options:
            options = ", ".join(f"{name}=True" for name in self.options)
            lines.append(f"the emulator follows with Emulator({options})")
        return "\n".join(lines)
