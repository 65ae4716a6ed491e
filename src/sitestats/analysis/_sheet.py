"""A table of mixed values that is shown and nothing else: no frame is made of it."""

from __future__ import annotations

from collections.abc import Sequence

import attrs


@attrs.frozen
class Sheet:
    """A title, the columns, and a row of values for each line."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    note: str = ""
    """What is to be said below the last row."""

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers alone, which stand to the right."""
        kinds = {type(row[column]) for row in self.rows} - {type(None)}
        return bool(kinds) and kinds <= {int, float}
