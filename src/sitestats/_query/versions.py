"""The versions of the Stats API (section 9): a table with a row for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs


@attrs.frozen
class Version:
    """What is known of one version of the response's format.

    A newer version is like the last one, as far as its row does not tell otherwise.
    """

    number: int
    is_sent: bool = attrs.field(default=False, kw_only=True)
    """Whether queries send it by default; a later one may be known, too."""
    has_documented_shape: bool = attrs.field(default=True, kw_only=True)
    """Whether responses have the shape that the document shows."""
    needs_fields: bool = attrs.field(default=True, kw_only=True)
    """Whether a query has to say what it requests."""
    has_all_fields: bool = attrs.field(default=False, kw_only=True)
    """Whether responses have every field, whatever is requested."""
    always_has_pages: bool = attrs.field(default=False, kw_only=True)
    """Whether responses have the pages, whatever is requested."""


VERSIONS: Final[Mapping[int, Version]] = {
    row.number: row
    for row in (
        Version(1, has_documented_shape=False, needs_fields=False, has_all_fields=True),
        Version(
            2, has_documented_shape=False, needs_fields=False, always_has_pages=True
        ),
        Version(3, has_documented_shape=False),
        Version(4, has_documented_shape=False),
        Version(5),
        Version(6, is_sent=True),
    )
}
"""The row of each version that is known, by its number."""

LATEST_VERSION: Final = max(VERSIONS)
"""The latest version that is known."""

(SENT_VERSION,) = (row.number for row in VERSIONS.values() if row.is_sent)
"""The version that is sent by default."""

DOCUMENTED_VERSIONS: Final = tuple(
    row.number for row in VERSIONS.values() if row.has_documented_shape
)
"""The versions whose responses have the shape that the document shows."""

WITH_HOURS: Final = 6
"""The first version whose histograms can have hours."""

WITH_METADATA: Final = 6
"""The first version with metadata filters."""


def version_row(number: int) -> Version:
    """The row of a version; one that is not known is like the latest."""
    return VERSIONS.get(number) or attrs.evolve(
        VERSIONS[LATEST_VERSION], number=number, is_sent=False
    )
