"""``SetupReport``: what ``client.check()`` found out about a set-up, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import attrs

if TYPE_CHECKING:
    from sitestats._common.errors import SiteStatsError
    from sitestats._common.jsontext import JsonValue

_MARKS: Final = {True: "✓", False: "✗", None: "-"}


@attrs.frozen
class SetupRow:
    """One thing that was checked.

    >>> client.check().rows[0].name
    'base address'
    """

    name: str
    """What was checked, such as ``"connection"``."""
    text: str
    """What was found, or what to do. It has no credential."""
    ok: bool | None
    """Whether it is right; None where it was not checked."""

    def to_dict(self) -> dict[str, JsonValue]:
        """The row as plain values, ready for JSON."""
        return {"name": self.name, "ok": self.ok, "text": str(self.text)}

    def __str__(self) -> str:
        return f"{_MARKS[self.ok]} {self.name:16} {self.text}"


@attrs.frozen
class SetupReport:
    """Whether a set-up works: where each setting is from, and what the service takes.

    >>> report = client.check()
    >>> report.ok
    True
    >>> [row.name for row in report.rows if row.ok is False]
    []
    """

    rows: tuple[SetupRow, ...]
    """What was checked, in its order."""
    error: SiteStatsError | None = attrs.field(default=None, repr=False)
    """The first thing that failed; None if nothing did."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; what was not checked does not count."""
        return all(row.ok is not False for row in self.rows)

    def to_dict(self) -> dict[str, JsonValue]:
        """The report as plain values, ready for JSON."""
        return {"ok": self.ok, "rows": [row.to_dict() for row in self.rows]}

    def __str__(self) -> str:
        return "\n".join(map(str, self.rows))
