"""A FastAPI endpoint that returns the numbers of a dashboard.

Reads SITESTATS_BASE_URL and SITESTATS_API_KEY. With ``pip install fastapi uvicorn``::

    uvicorn --app-dir examples fastapi_dashboard:app

Then open http://127.0.0.1:8000/example.com. One client serves all requests: it is
made when the application starts, and closed when it stops.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request

from sitestats import AsyncClient, QueryError, ServiceError, StatsQuery, TransportError


@asynccontextmanager
async def with_client(app: FastAPI) -> AsyncGenerator[None, None]:
    """Keep a client for as long as the application runs."""
    async with AsyncClient(total_timeout=10.0) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=with_client)


@app.get("/{hostname}")
async def dashboard(request: Request, hostname: str, days: int = 30) -> dict[str, Any]:
    """Return the last days of one website."""
    client: AsyncClient = request.app.state.client
    try:
        query = StatsQuery(hostname).fields("pageviews", "visitors", "histogram")
        stats = await client.stats.get(query.last(days=days))
    except QueryError as error:
        raise HTTPException(422, str(error)) from None
    except ServiceError as error:
        raise HTTPException(error.status, error.message) from None
    except TransportError as error:
        raise HTTPException(504, str(error)) from None
    return {
        "hostname": stats.hostname,
        "pageviews": stats.pageviews,
        "visitors": stats.visitors,
        "days": stats.histogram.to_dicts(),
    }
