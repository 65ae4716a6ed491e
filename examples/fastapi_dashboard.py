"""A FastAPI endpoint that returns the numbers of a dashboard.

Reads SITESTATS_BASE_URL and SITESTATS_API_KEY. With ``pip install fastapi uvicorn``::

    uvicorn --app-dir examples --port 8080 fastapi_dashboard:app

Then open http://127.0.0.1:8080/example.com. One client serves all requests: it is
made when the application starts, and closed when it stops.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from sitestats import AsyncClient, NotFoundError, QueryError, SiteStatsError, StatsQuery


@asynccontextmanager
async def with_client(app: FastAPI) -> AsyncGenerator[None, None]:
    """Keep a client for as long as the application runs."""
    async with AsyncClient(total_timeout=10.0) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=with_client)


@app.exception_handler(SiteStatsError)
async def without_statistics(_request: Request, error: SiteStatsError) -> JSONResponse:
    """Respond to an error. Its text is for the log, not for a visitor."""
    logging.getLogger(__name__).warning("no statistics: %s", error)
    if isinstance(error, QueryError):
        return JSONResponse({"error": "this is not a website or not a period"}, 422)
    if isinstance(error, NotFoundError):
        return JSONResponse({"error": "this website is not known"}, 404)
    status = 503 if error.retryable else 502
    return JSONResponse({"error": "the statistics are not available"}, status)


@app.get("/{hostname}")
async def dashboard(request: Request, hostname: str, days: int = 30) -> dict[str, Any]:
    """Return the last days of one website."""
    client: AsyncClient = request.app.state.client
    query = StatsQuery(hostname).fields("pageviews", "visitors", "histogram")
    stats = await client.stats.get(query.last(days=days))
    return {
        "hostname": stats.hostname,
        "pageviews": stats.pageviews,
        "visitors": stats.visitors,
        "days": stats.histogram.to_dicts(),
    }
