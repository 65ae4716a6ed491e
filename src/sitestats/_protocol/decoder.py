"""Decode the JSON of statistics straight into entries, with msgspec.

The bytes are decoded straight into the entries' classes by msgspec, which takes
half the time of decoding them to dicts. It knows one shape for each query and
nothing of odd entries. Whatever it refuses, for whatever reason, goes once more
through the standard decoder and ``converter``, which alone decide what is an
error, and name every wrong place.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypedDict

import attrs

from sitestats._common.fields import COUNTS, FIELDS, LISTS
from sitestats._results.entries import entry_class
from sitestats._results.histogram import Bucket

if TYPE_CHECKING:
    import msgspec

_ENVELOPE: Final[Mapping[str, Any]] = {
    "ok": bool,
    "success": bool,
    "hostname": str | None,
    "path": str | None,
    "timezone": str | None,
    "version": int | None,
    "start": str | None,
    "end": str | None,
    "generated_in_ms": int | None,
}
"""What a response says about itself."""


@attrs.frozen
class Shape:
    """What to look for in a response."""

    names: tuple[str, ...]
    """What was requested, in the document's order; events come last."""
    required: frozenset[str]
    """What has to be there: all of it but the seconds, which may be unknown."""
    types: Mapping[str, Any]
    """The types of what was requested and of what a response says about itself."""
    _decoder: msgspec.json.Decoder[dict[str, Any]]

    def decode(self, body: bytes) -> dict[str, Any] | None:
        """The values in *body*, or None if anything at all is odd about it."""
        try:
            # What is skipped is not decoded, so half a character would pass.
            if not body.isascii():
                body.decode()
            return self._decoder.decode(body)
        except Exception:  # noqa: BLE001  the slow way decides what is an error
            return None


@lru_cache(maxsize=256)
def shape(fields: tuple[str, ...], events: bool = False) -> Shape:  # noqa: FBT001, FBT002  a cache's key
    """The shape of a response to a query for *fields*, and for *events*.

    What is no field of the document is left out: it can be requested by the
    query's escape hatch, and is to be found in ``Stats.extra``.
    """
    # With what it imports itself it would take a third of our own import.
    import msgspec

    names: tuple[str, ...] = tuple(name for name in FIELDS if name in fields)
    names = (*names, "events") if events else names
    timed = "seconds_on_page" in names
    known: dict[str, Any] = {
        **dict.fromkeys(COUNTS, int),
        **{name: _list_of(name, timed=timed) for name in (*LISTS, "pages", "events")},
        "histogram": list[Bucket],
        "seconds_on_page": float | None,
    }
    types: dict[str, Any] = dict(_ENVELOPE)
    types |= {name: known[name] for name in names}
    # Made at run time, which type checkers can't follow.
    make_typed_dict: Any = TypedDict
    decoder = msgspec.json.Decoder(make_typed_dict("Answer", types, total=False))
    return Shape(names, frozenset(names) - {"seconds_on_page"}, types, decoder)


def _list_of(field: str, *, timed: bool) -> Any:
    # Made at run time, which type checkers can't follow.
    kind: Any = entry_class(field, timed=timed)
    return list[kind]
