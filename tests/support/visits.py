"""For the pages: the settings of an emulator, and visits to web applications."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx

import sitestats
from sitestats import InvalidInputError, NotFoundError, RateLimitedError

if TYPE_CHECKING:
    from sitestats.emulator import Emulator

EXPECTED: Final[list[tuple[sitestats.SiteStatsError, int]]] = [
    (NotFoundError("GET /nobody.example.json", status_code=404), 404),
    (RateLimitedError("slower", status_code=429, retry_after=6.2), 503),
    (sitestats.RequestTimeoutError("late"), 504),
    (sitestats.ConnectionFailedError("reset"), 503),
    (sitestats.ConnectionFailedError("not trusted", temporary=False), 502),
    (sitestats.ServerError("failed", status_code=503), 503),
    (sitestats.AuthenticationError("which key?", status_code=401), 502),
    (sitestats.WebsiteLockedError("no badge", status_code=423), 502),
    (sitestats.BadRequestError("what?", status_code=400), 502),
    (sitestats.InvalidResponseError("odd"), 502),
    (InvalidInputError([]), 422),
    (sitestats.ClientClosedError("closed"), 500),
]
VISITS: Final[list[tuple[str, dict[str, Any], int]]] = [
    ("semicomplete.com", {}, 200),
    ("nobody.example", {}, 404),
    ("%20", {}, 422),
    ("semicomplete.com", {"status": 503}, 503),
    ("semicomplete.com", {"status": 401}, 502),
    ("semicomplete.com", {"garbage": True}, 502),
    ("semicomplete.com", {"reset": True}, 503),
    ("semicomplete.com", {"status": 429, "retry_after": 7}, 503),
]


@contextmanager
def environment(emulator: Emulator) -> Iterator[None]:
    """The settings of the environment lead to *emulator*."""
    with emulator.serve() as address:
        settings = {
            "SITESTATS_BASE_URL": address,
            "SITESTATS_API_KEY": emulator.api_key,
            "SITESTATS_USER_ID": emulator.user_id,
        }
        os.environ.update(settings)
        yield
        for name in settings:
            del os.environ[name]


def check_statuses(
    for_visitor: Callable[[sitestats.SiteStatsError], tuple[int, str, dict[str, str]]],
) -> None:
    """Each error has its status, and its text stays in the log."""
    for error, status in EXPECTED:
        found, text, headers = for_visitor(error)
        assert (found, "Retry-After" in headers) == (status, status == 503)
        assert str(error) not in text or not str(error)
    busy = RateLimitedError("slower", status_code=429, retry_after=6.2)
    assert for_visitor(busy)[2] == {"Retry-After": "7"}


def check_visits(
    emulator: Emulator, respond: Callable[[str], tuple[int, bytes, str | None]]
) -> None:
    """A visitor gets the numbers, or a status and nothing internal."""
    for hostname, fault, expected in VISITS:
        if fault:
            emulator.fail_next(2, **fault)
        status, body, retry_after = respond(hostname)
        assert status == expected, (hostname, fault, status)
        if expected == 200:
            assert json.loads(body)["visitors"] == 953
        else:
            assert set(json.loads(body)) == {"error"}
            assert b".json" not in body
            assert b"GET" not in body
        emulator.clear_faults()
    assert retry_after == "7"


def visit_fastapi(emulator: Emulator, app: Any, lifespan: Callable[[Any], Any]) -> None:
    """Visit an application of FastAPI, which needs no server."""
    with asyncio.Runner() as runner:
        around = lifespan(app)
        runner.run(around.__aenter__())
        browser = httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://app"
        )

        def respond(hostname: str) -> tuple[int, bytes, str | None]:
            got = runner.run(browser.get(f"/{hostname}/visitors"))
            return got.status_code, got.content, got.headers.get("retry-after")

        check_visits(emulator, respond)
        runner.run(browser.aclose())
        runner.run(around.__aexit__(None, None, None))


def visit_stream(app: Any, dependency: Callable[..., Any]) -> None:
    """A stream has a result of each website, and leaves a failed one out; the list of
    websites fails before the stream begins.
    """
    from sitestats.emulator import Emulator

    made_up = Emulator()
    made_up.load({"hostname": f"{name}.example", "is_unique": True} for name in "abc")
    once = made_up.async_client(retries=0)

    async def visit() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as own:
            return await own.get("/visitors")

    with asyncio.Runner() as runner:
        app.dependency_overrides[dependency] = lambda: once
        made_up.fail_next(status=503, path="/b*")
        lines = runner.run(visit()).text.splitlines()
        sent = [json.loads(line[5:]) for line in lines if line.startswith("data:")]
        assert {one["hostname"]: one["visitors"] for one in sent} == {
            "a.example": 1,
            "c.example": 1,
        }
        made_up.fail_next(status=503, path="/api/*")
        assert runner.run(visit()).status_code == 503
        app.dependency_overrides.clear()
        runner.run(once.aclose())


def store_in_django(emulator: Emulator) -> None:
    """A cache of Django is a store as it is."""
    from django.core.cache import caches

    day = sitestats.StatsQuery("semicomplete.com").fields("visitors").timezone("UTC")
    with emulator.client(store=caches["default"]) as client:
        client.stats.get(day.on("today-3d"))
        assert client.stats.get(day.on("today-3d")).from_store


def visit_django(emulator: Emulator, view: Callable[..., Any]) -> None:
    """Visit a view of Django."""
    import django
    from django.conf import settings
    from django.test import RequestFactory

    settings.configure()
    django.setup()

    def respond(hostname: str) -> tuple[int, bytes, str | None]:
        response = view(RequestFactory().get("/"), hostname)
        return response.status_code, response.content, response.get("Retry-After")

    check_visits(emulator, respond)


def run_celery(emulator: Emulator, worker: Any, task: Any) -> None:
    """Run a task of Celery: it is retried, and its error travels as JSON."""
    worker.conf.update(
        task_always_eager=True,
        task_store_eager_result=True,
        result_backend="cache+memory://",
    )
    assert task.delay("semicomplete.com").get() == 953
    for fault in ({"status": 429, "retry_after": 0}, {"status": 503}, {"reset": True}):
        emulator.fail_next(2, **fault)
        assert task.delay("semicomplete.com").get() == 953
    emulator.clear_faults()
    for hostname, kind in (
        ("nobody.example", NotFoundError),
        ("a b", InvalidInputError),
    ):
        before = len(emulator.requests)
        done = task.delay(hostname)
        stored = worker.AsyncResult(done.id).result
        assert type(stored) is kind, stored
        assert str(stored) == str(done.result)
        assert len(emulator.requests) - before == (kind is NotFoundError)
