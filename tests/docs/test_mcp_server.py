"""The example for assistants: its tools, used over stdio as an assistant uses them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from sitestats.emulator import Emulator

pytestmark = pytest.mark.long

SERVER = Path(__file__).parents[2] / "examples" / "mcp_server.py"
HOST = "semicomplete.com"
PLENTY = 120.0


def stats(
    *fields: str, hostname: str = HOST, **more: Any
) -> tuple[str, dict[str, Any]]:
    """A call for statistics."""
    return "get_stats", {"hostname": hostname, "fields": [*fields], **more}


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_websites", {}),
    stats("visitors", "pages", limit=3),
    stats("pageviews", during="2026-10", where={"country": "NL"}),
    stats("visitors", compare=True, last=7),
    # What an assistant may well get wrong.
    stats("visitor"),
    stats("pages", limit=2_000),
    stats("pages", where={"contry": "NL"}),
    stats("pages", during="October"),
    stats("visitors", hostname="nobody.example"),
    stats("visitors", compare=True),
    stats("visitors", compare=True, during="last-month"),
]
ADVICE = """did you mean 'visitors'? | 1000 | did you mean 'country'? | 'October'
| nobody.example | .last(days=…) | .timezone( | try again in 600 s"""


async def use(address: str, emulator: Emulator) -> tuple[list[Any], list[Any]]:
    """The tools of the server, and what each of the calls returns."""
    import mcp

    parameters = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-W", "error", str(SERVER)],
        env={
            **os.environ,
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
        },
    )
    with anyio.fail_after(PLENTY):
        async with mcp.Client(parameters) as client:
            tools = await client.list_tools()
            results = [await client.call_tool(*call) for call in CALLS]
            emulator.fail_next(status=429, retry_after=600)
            results.append(await client.call_tool(*CALLS[1]))
    return tools.tools, results


def test_an_assistant_uses_the_tools() -> None:
    """The assistant lists websites and reads numbers; each mistake comes back as a text
    that says what to do, in the names of the arguments; nothing is ever written, and no
    key is shown.
    """
    # Here, since importing it takes seconds.
    pytest.importorskip("mcp")
    emulator = Emulator.demo()
    with emulator.serve() as address:
        tools, results = anyio.run(use, address, emulator)
    assert {tool.name for tool in tools} == {"list_websites", "get_stats"}
    for tool in tools:
        assert tool.description
        assert tool.annotations.read_only_hint
    texts = ["".join(part.text for part in result.content) for result in results]
    assert [result.is_error for result in results] == [False] * 4 + [True] * 8
    assert HOST in texts[0]
    numbers = results[1].structured_content
    assert numbers["visitors"] > 0
    assert len(numbers["pages"]) == 3
    assert results[2].structured_content["pageviews"] >= 0
    assert "visitors" in texts[3]
    for text, advice in zip(texts[4:], ADVICE.split("|"), strict=True):
        assert advice.strip() in text
    assert all("fails again" in text for text in texts[4:-1])
    assert "fails again" not in texts[-1]
    # What breaks a rule was never sent.
    assert {request.method for request in emulator.requests} == {"GET"}
    assert len(emulator.requests) == 7
    for text in texts:
        assert emulator.api_key not in text
        assert emulator.user_id not in text
