"""Mutate inputs: the tree of their JSON, their bytes, their status and headers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from .inputs import Input

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 3, 1.5, 1e400, -1e400, 1e-400, 2**31, 2**63, 2**64),
    *(-(2**63) - 1, 10**30, float("nan"), "", "3", "x", "\0", "\ud800", "\udfff\ud800"),
    *("\x1b[2J", "\u202e", "é", "a" * 300, "null", "true", "/", "*", "**", "UTC"),
    *(
        "2024-03-01",
        "2024-02-30",
        "2024-3-1",
        "0000-00-00",
        "9999-12-31",
        "10000-01-01",
    ),
    *(
        "2024-03-01T00:00:00.000Z",
        "0001-01-01T00:00:00.000Z",
        "9999-12-31T23:59:59.999Z",
    ),
    *(
        "2024-03-01T24:00:00Z",
        "2024-03-01T00:00:00+99:99",
        "\u0662\u0660\u0662\u0664-03-01",
        "Europe/Amsterdam",
    ),
    *("europe/amsterdam", "../../etc/passwd", "EXAMPLE.com.", "other.example", "false"),
    *([], [None], [[]], {}, {"a": 1}, [1, "a", None], {"": {}}, {"value": None}),
    *({"value": "x", "pageviews": 1}, {"name": "signup"}, {"name": None, "total": -1}),
)
KEYS = (
    *(
        "ok",
        "success",
        "error",
        "message",
        "status",
        "code",
        "hostname",
        "path",
        "info",
    ),
    *("start", "end", "version", "timezone", "pageviews", "visitors", "histogram"),
    *("pages", "events", "countries", "seconds_on_page", "generated_in_ms", "websites"),
    *(
        "date",
        "hour",
        "year",
        "week",
        "value",
        "name",
        "total",
        "",
        "__x",
        "extra",
        "\ud800",
    ),
    *(
        "visits",
        "uniqueVisits",
        "agents",
        "customDomain",
        "validDNS",
        "public",
        "label",
    ),
)
PIECES = (
    *(
        b"",
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b",",
        b":",
        b"null",
        b"NaN",
        b"-Infinity",
        b"\xff",
    ),
    *(
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\0",
        b"\\ud800",
        b"\\u0000",
        b"1e999",
        b"-",
        b"--",
    ),
    *(b"show(", b")", b"<html>", b"<!doctype html><title>x</title>", b"9" * 5000),
    *(b"[" * 2000, b"{}" * 10, b"\xed\xa0\x80", b"\n", b"/**/", b"\x1f\x8b\x08"),
)
STATUSES = (200, 200, 200, 201, 204, 206, 301, 304, 400, 401, 403, 404, 410, 418, 423)
MORE_STATUSES = (429, 500, 503, 599, 600, 799, 999, 100)
HEADERS = (
    ("retry-after", ("7", "-1", "1e9", "nan", "soon", "9" * 400, "\u0663", "")),
    ("retry-after", ("Sun, 06 Nov 1994 08:49:37 GMT", "Fri, 31 Dec 9999 23:59:59 GMT")),
    ("retry-after", ("Fri, 31 Dec 9999 23:59:59 -2359", "x 00:00:00 9", "0", " 1 ")),
    ("date", ("Sun, 06 Nov 1994 08:49:37 GMT", "x", "Thu, 01 Jan 0001 00:00:00 +2359")),
    (
        "location",
        ("/x", "http://[::1", "//", "https://u:p@h/?k=1#f", "\x1b[2J", "é" * 900),
    ),
    ("content-type", ("text/html", "application/json; charset=utf-7", "", "x/y" * 99)),
)


def mutate(one: Input, corpus: Sequence[Input], random: Random) -> Input:
    """*one*, changed in a few places."""
    if one.target != "gzip":
        if random.random() < 0.1:
            status = random.choice(STATUSES + MORE_STATUSES)
            one = Input(one.target, one.body, status, one.headers)
        if random.random() < 0.1:
            name, values = random.choice(HEADERS)
            headers = {**one.headers, name: random.choice(values)}
            one = Input(one.target, one.body, one.status, headers)
    body = one.body
    if random.random() < 0.7:
        body = _mutate_json(body, random)
    if random.random() < 0.4:
        others = [random.choice(corpus).body]
        for _ in range(random.randint(1, 4)):
            body = mutate_bytes(body, others, PIECES, random)
    return Input(one.target, body, one.status, one.headers)


def mutate_bytes(
    body: bytes, others: Sequence[bytes], pieces: Sequence[bytes], random: Random
) -> bytes:
    """*body*, changed in one place."""
    place = random.randint(0, len(body))
    match random.randrange(6):
        case 0:
            return body[:place] + random.choice(pieces) + body[place:]
        case 1:
            changed = random.randbytes(random.randint(1, 4))
            return body[:place] + changed + body[place + 1 :]
        case 2:
            return body[:place] + body[place + random.randint(1, 30) :]
        case 3:
            return body[:place]
        case 4:
            flipped = (body[place : place + 1] or b"\0")[0] ^ (1 << random.randrange(8))
            return body[:place] + bytes([flipped]) + body[place + 1 :]
        case _:
            other = random.choice(others)
            return body[:place] + other[random.randint(0, len(other)) :]


def _mutate_json(body: bytes, random: Random) -> bytes:
    start, end = body.find(b"("), body.rfind(b")")
    wrapped = body.startswith(b"show") and 0 < start < end
    inside = body[start + 1 : end] if wrapped else body
    try:
        tree = json.loads(inside)
    except (ValueError, RecursionError):
        return body
    for _ in range(random.randint(1, 3)):
        tree = _change(tree, random)
    try:
        made = json.dumps(tree, ensure_ascii=random.random() < 0.7).encode()
    except (UnicodeEncodeError, RecursionError):
        return body
    return body[: start + 1] + made + body[end:] if wrapped else made


def _change(tree: Any, random: Random) -> Any:
    """*tree* with one random node changed."""
    go_on = random.random() < 0.75
    if isinstance(tree, dict) and tree:
        if go_on:
            key = random.choice(list(tree))
            return {**tree, key: _change(tree[key], random)}
        return _change_object(dict(tree), random)
    if isinstance(tree, list) and tree:
        if go_on:
            index = random.randrange(len(tree))
            return [*tree[:index], _change(tree[index], random), *tree[index + 1 :]]
        return _change_array(list(tree), random)
    return random.choice(VALUES)


def _change_object(tree: dict[str, Any], random: Random) -> Any:
    choice = random.randrange(4)
    if choice == 0:
        del tree[random.choice(list(tree))]
    elif choice == 1:
        tree[random.choice(KEYS)] = random.choice(VALUES)
    elif choice == 2:
        tree[random.choice(KEYS)] = tree[random.choice(list(tree))]
    else:
        return random.choice(VALUES)
    return tree


def _change_array(tree: list[Any], random: Random) -> Any:
    choice = random.randrange(5)
    if choice == 0:
        del tree[random.randrange(len(tree))]
    elif choice == 1:
        tree.insert(random.randrange(len(tree) + 1), random.choice(VALUES))
    elif choice == 2:
        random.shuffle(tree)
    elif choice == 3 and len(tree) < 50:
        return tree * random.randint(2, 4)
    else:
        return random.choice(VALUES)
    return tree
