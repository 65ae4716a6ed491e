"""Serves the tools over standard input and output, with the package ``mcp``."""

from __future__ import annotations

import logging
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ListedTool

from sitestats._version import __version__

from .tools import INSTRUCTIONS, Tool, Tools, WrongCallError

_log = logging.getLogger("sitestats.mcp")


def serve(tools: Tools) -> None:
    """Serve *tools* until the assistant closes standard input."""
    anyio.run(_serve, tools)


async def _serve(tools: Tools) -> None:
    server: Server[Any] = Server(
        "sitestats",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=partial(_list, tools),
        on_call_tool=partial(_call, tools, anyio.CapacityLimiter(1)),
    )
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _list(tools: Tools, _context: object, _params: object) -> ListToolsResult:
    return ListToolsResult(tools=[_listed(tool) for tool in tools.all.values()])


def _listed(tool: Tool) -> ListedTool:
    annotations = ToolAnnotations(
        read_only_hint=tool.is_read_only,
        destructive_hint=False,
        open_world_hint=False,
    )
    return ListedTool(
        name=tool.name,
        description=tool.about,
        input_schema=tool.schema,
        annotations=annotations,
    )


async def _call(
    tools: Tools,
    one: anyio.CapacityLimiter,
    _context: object,
    params: CallToolRequestParams,
) -> CallToolResult:
    """Run a tool in a thread, one at a time: each records the warnings of its call."""
    run = partial(tools.call, params.name, params.arguments or {})
    try:
        text = await anyio.to_thread.run_sync(run, limiter=one, abandon_on_cancel=True)
    except WrongCallError as error:
        return _answer(str(error), is_error=True)
    except Exception:  # noqa: BLE001 - its text may have anything in it: the model gets none
        _log.exception("a tool failed")
        return _answer("the tool failed; its log has the reason", is_error=True)
    return _answer(text)


def _answer(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(
        content=[TextContent(type="text", text=text)], is_error=is_error
    )
