"""Inputs whose structure could cost much, and bounds on what reading one may cost.

The bounds do not go by how fast the machine is. They are generous: what they find
makes some calls for each item or letter of a response.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

from costs import calls_of, peak_of
from faults.responses import repeated

from .inputs import SEEDS, Input
from .mutate import VALUES, replaced
from .targets import BrokenError, read_and_show

MOST_CALLS = 300_000
"""Calls beside one for each byte: the lists of a response that is read have 11,000
entries, and a histogram 10,000."""
MOST_MEMORY = 20_000_000
"""Bytes beside four times the memory of json.loads."""

_MARK = "in place of this"
_JSON = tuple(seed for seed in SEEDS if seed.body.startswith((b"{", b"[{", b"show")))


def enlarge(random: Random) -> Input:
    """A seed with something large in one place of its JSON, mostly in a list's."""
    seed = random.choice(_JSON)
    start, end = seed.body.find(b"{"), seed.body.rfind(b"}") + 1
    tree: dict[str, Any] = json.loads(seed.body[start:end])
    lists = [name for name, value in tree.items() if isinstance(value, list)]
    if lists and random.random() < 0.8:
        tree, large = {**tree, random.choice(lists): _MARK}, _many(random)
    else:
        tree, large = replaced(tree, _MARK, random), _large(random)
    inside = json.dumps(tree).encode().replace(f'"{_MARK}"'.encode(), large)
    body = seed.body[:start] + inside + seed.body[end:]
    return Input(seed.target, body, seed.status, seed.headers)


def _many(random: Random) -> bytes:
    value = json.dumps(random.choice(VALUES)).encode()
    return repeated(value, random.randint(100_000, 500_000))


def _large(random: Random) -> bytes:
    value = json.dumps(random.choice(VALUES)).encode()
    match random.randrange(5):
        case 0:
            return _many(random)
        case 1:
            piece = random.choice(("a", "a.", "é", "%41", "/", r"\u0061", "&#97;", " "))
            count = random.randint(100_000, 300_000) // len(piece)
            return b'"%s"' % (piece.encode() * count)
        case 2:
            depth = random.randint(20, 3_000)
            return b"[" * depth + value + b"]" * depth
        case 3:
            names = range(random.randint(1_000, 20_000))
            return b"{%s}" % b",".join(b'"%d":%s' % (name, value) for name in names)
        case _:
            entry = {"value": "/", "pageviews": 1, "date": "2024-03-01", "name": "a"}
            size = random.randint(100_000, 500_000)
            return repeated(json.dumps(entry).encode(), size)


def check_costs(one: Input) -> str:
    """Read and show an input; the name of its error's class, or ``"model"``.

    Raises:
        BrokenError: It takes too many calls or too much memory.
    """
    # What is imported and cached by the first is none of the input's.
    outcome = read_and_show(one)
    calls = calls_of(lambda: read_and_show(one))
    if calls > MOST_CALLS + len(one.body):
        raise BrokenError(f"{one.target}: {calls:,} calls for {len(one.body):,} bytes")
    peak, base = peak_of(lambda: read_and_show(one)), peak_of(lambda: _decode(one))
    if peak > MOST_MEMORY + 4 * base:
        raise BrokenError(
            f"{one.target}: {peak:,} bytes, where json.loads takes {base:,}"
        )
    return outcome


def _decode(one: Input) -> Any:
    try:
        return json.loads(one.body)
    except (ValueError, RecursionError):
        return None
