"""``sitestats mcp``, used over stdio by the protocol's own client."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from cli.inside import speak_to_no_assistant, uninstall_mcp
from commands import exists
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from commands import Run

pytestmark = pytest.mark.long

HOST = "semicomplete.com"
PLENTY = 120.0
QUESTION: dict[str, Any] = {"hostname": HOST, "fields": ["visitors", "pages"]}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("list_websites", {}),
    ("get_stats", {**QUESTION, "limit": 3}),
    ("compare_periods", {**QUESTION, "during": "last-month"}),
    ("save_report", {**QUESTION, "last": 7}),
    ("get_stats", {**QUESTION, "fields": ["visitor"]}),
    ("get_stats", {**QUESTION, "hostname": "nobody.example"}),
]


async def use(
    address: str, emulator: Emulator, reports: Path
) -> tuple[list[Any], list[Any]]:
    """The tools of the server, and what each of the calls returns."""
    import mcp

    words = ("mcp", "--reports", str(reports))
    assert exists(*words)
    parameters = mcp.StdioServerParameters(
        command=sys.executable,
        args=["-W", "error", "-m", "sitestats", *words],
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
            for failure in ({"status": 401}, {"status": 429, "retry_after": 600}):
                emulator.fail_next(**failure)
                results.append(await client.call_tool(*CALLS[1]))
    return tools.tools, results


def test_an_assistant_uses_the_tools(tmp_path: Path) -> None:
    """The assistant lists websites, reads and compares numbers, and saves a report; a
    mistake, or a failure of the service, comes back as a text that says what to do; no
    website is added, and no key is shown.
    """
    # Here, since importing it takes seconds.
    pytest.importorskip("mcp")
    pytest.importorskip("xlsxwriter")
    emulator = Emulator.demo()
    with emulator.serve() as address:
        tools, results = anyio.run(use, address, emulator, tmp_path)
    writing = {tool.name for tool in tools if not tool.annotations.read_only_hint}
    assert writing == {"save_report"}
    assert {tool.name for tool in tools} - writing == {
        "list_websites",
        "get_stats",
        "compare_periods",
    }
    assert all(tool.description for tool in tools)
    assert not any(tool.annotations.destructive_hint for tool in tools)
    texts = ["".join(part.text for part in result.content) for result in results]
    assert [result.is_error for result in results] == [False] * 4 + [True] * 4
    assert HOST in texts[0]
    numbers = json.loads(texts[1])
    assert numbers["visitors"] > 0
    assert len(numbers["pages"]) == 3
    assert "visitors_before" in json.loads(texts[2])
    assert Path(json.loads(texts[3])["saved"]).parent == tmp_path.resolve()
    assert "did you mean 'visitors'?" in texts[4]
    assert "does not know" in texts[5]
    assert "try again in 600 s" in texts[7]
    assert "401" in texts[6]
    assert {request.method for request in emulator.requests} == {"GET"}
    for text in texts:
        assert emulator.api_key not in text
        assert emulator.user_id not in text


def test_without_an_assistant(
    emulator: Emulator, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person who starts it in a terminal is told what it waits for; one who has not
    installed its extra, what to install.
    """
    pytest.importorskip("mcp")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    speak_to_no_assistant(monkeypatch)
    done = run("mcp")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("sitestats: waiting for an assistant")
    uninstall_mcp(monkeypatch)
    done = run("mcp")
    assert done.code == 2
    assert "pip install 'sitestats[mcp]'" in done.err
