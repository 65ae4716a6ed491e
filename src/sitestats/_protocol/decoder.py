"""Decode the JSON of statistics into entries with msgspec.

Decoding into the entries' classes takes half the time of decoding to dicts. It
expects one shape for each query. Whatever it refuses is decoded again by the
standard decoder and ``converter``, which decide what is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypedDict

import attrs

from sitestats._common.fields import COUNTS, ENVELOPE, FIELDS, LISTS
from sitestats._common.jsontext import is_too_deep
from sitestats._results.entries import entry_class
from sitestats._results.histogram import Bucket

if TYPE_CHECKING:
    import msgspec


_MOST_OBJECTS: Final = 50_000
"""An empty object takes msgspec forty times as long as json.loads, so a body with more
is left to the latter, and its lengths are checked before its entries are made."""


@attrs.frozen
class Shape:
    """The names and types that a response should have."""

    names: tuple[str, ...]
    """What was requested, in the document's order; events come last."""
    required: frozenset[str]
    """What must not be missing: all of it but the seconds, which may be unknown."""
    types: Mapping[str, Any]
    """The types of what was requested and of the envelope."""
    _decoder: msgspec.json.Decoder[dict[str, Any]]

    def decode(self, body: bytes) -> dict[str, Any] | None:
        """The values in *body*, or None if anything is unexpected."""
        if body.count(b"{") > _MOST_OBJECTS or is_too_deep(body):
            return None
        try:
            # msgspec does not decode what it skips, so invalid UTF-8 would pass there.
            if not body.isascii():
                body.decode()
            return self._decoder.decode(body)
        except Exception:  # noqa: BLE001  converter decides what is an error
            return None


@lru_cache(maxsize=256)
def shape(fields: tuple[str, ...], events: bool = False) -> Shape:  # noqa: FBT001, FBT002  a cache's key
    """The shape of a response to a query for *fields*, and for *events*.

    Names that are not in the document are left out: they are requested by
    ``extra_param`` and read from ``Stats.extra``.
    """
    # It would add a third to the time of importing sitestats.
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
    types: dict[str, Any] = {"ok": bool, "success": bool, **ENVELOPE}
    types |= {name: known[name] for name in names}
    # Made at run time, which type checkers can't follow.
    make_typed_dict: Any = TypedDict
    decoder = msgspec.json.Decoder(make_typed_dict("Response", types, total=False))
    return Shape(names, frozenset(names) - {"seconds_on_page"}, types, decoder)


def _list_of(field: str, *, timed: bool) -> Any:
    # Made at run time, which type checkers can't follow.
    kind: Any = entry_class(field, timed=timed)
    return list[kind]
