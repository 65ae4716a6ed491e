"""Both clients, the emulator and a part of the tests, in node and in Chromium.

``nox -s browser`` runs them: they need Pyodide, node and an index of wheels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.hosts import ROOT, Hosts, chromium, node, opened, prepare
from sitestats import StatsQuery
from sitestats.emulator import Emulator

# Pyodide takes seconds to start, and its Python is slower.
pytestmark = pytest.mark.timeout(900)

OPTIONS = {"api_key": "sa_api_key_of_a_test", "user_id": "sa_user_id_of_a_test"}


@pytest.fixture(scope="module", params=["node", "chromium"])
def kind(request: pytest.FixtureRequest) -> str:
    """What runs Pyodide. Only in a page some headers are hidden."""
    return str(request.param)


@pytest.fixture(scope="module")
def hosts(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """Pyodide with the package and what ``micropip.install`` finds that it needs."""
    run = {"node": node, "chromium": chromium}[kind]
    with run(tmp_path_factory.mktemp(kind)) as hosts:
        prepare(hosts)
        yield hosts


@pytest.fixture(scope="module")
def emulator() -> Emulator:
    """An emulator with the traffic of five websites, for all tests."""
    return Emulator.made_up(5, days=60, **OPTIONS)


@pytest.fixture(scope="module")
def base(emulator: Emulator) -> Iterator[str]:
    """The address that the emulator is served at, of another origin than the page."""
    with emulator.serve() as address:
        yield address


@pytest.fixture(scope="module")
def numbers(emulator: Emulator) -> list[int]:
    """The page views of each website, as a client reads them here."""
    query = StatsQuery("shop.example").fields("pageviews").last(days=30)
    with emulator.client() as client:
        websites = client.websites.list()
        outcomes = client.stats.get_many(query.each(websites=websites)).collect()
    return [outcome.stats.pageviews for outcome in outcomes if outcome.stats]


# --- the clients ------------------------------------------------------------------


def test_an_async_client_reads_as_elsewhere(
    hosts: Hosts, base: str, numbers: list[int]
) -> None:
    """It lists websites, reads many, and knows a website that is not there."""
    code = """
    async with AsyncClient(base, **options) as client:
        websites = await client.websites.list()
        outcomes = await client.stats.get_many(query.each(websites=websites)).collect()
        try:
            await client.stats.get(query.website("nobody.example"))
        except NotFoundError as error:
            status = error.status_code
    [[outcome.stats.pageviews for outcome in outcomes], status]
    """
    assert hosts.run(code, base=base, options=OPTIONS) == [numbers, 404]


def test_a_blocking_client_waits_by_jspi(
    hosts: Hosts, base: str, numbers: list[int]
) -> None:
    """Without threads it does all that the other client does, also for many queries."""
    code = """
    with Client(base, **options) as client:
        websites = client.websites.list()
        outcomes = client.stats.get_many(query.each(websites=websites)).collect()
        views = client.stats.get(query).pageviews
    [[outcome.stats.pageviews for outcome in outcomes], views]
    """
    assert hosts.run(code, base=base, options=OPTIONS) == [numbers, numbers[0]]


def test_a_blocking_call_that_cannot_wait_names_the_other_client(
    hosts: Hosts, base: str
) -> None:
    """Below a function of JavaScript nothing can wait."""
    code = """
    from pyodide.code import run_js
    from pyodide.ffi import create_proxy

    said = []

    def call():
        try:
            Client(base).stats.get(query)
        except UsageError as error:
            said.append(str(error))

    run_js("(call) => call()")(create_proxy(call))
    said[0]
    """
    assert "AsyncClient" in hosts.run(code, base=base)


def test_websites_are_added_once(hosts: Hosts, base: str, emulator: Emulator) -> None:
    """Both clients keep a journal, with a lock and without a thread."""
    code = """
    with Client(base, **options) as client:
        report = client.websites.ensure(["one.example", "shop.example"])
    async with AsyncClient(base, **options) as client:
        await client.websites.ensure(["two.example"])
    str(report)
    """
    assert "1 added" in hosts.run(code, base=base, options=OPTIONS)
    assert {"one.example", "two.example"} <= {*emulator.websites}
    emulator.remove_website("one.example")
    emulator.remove_website("two.example")


BLOCKING = """
with Client(base, total_timeout=1.5, **options) as client:
    try:
        client.stats.get(query)
    except RequestTimeoutError as error:
        said = str(error)
said
"""
AWAITED = """
async with AsyncClient(base, total_timeout=1.5, **options) as client:
    try:
        await client.stats.get(query)
    except RequestTimeoutError as error:
        said = str(error)
said
"""


@pytest.mark.parametrize("fault", [{"latency": 60.0}, {"drip": 1.0}], ids=str)
@pytest.mark.parametrize("call", [BLOCKING, AWAITED], ids=["blocking", "awaited"])
def test_the_time_limit_of_a_call_holds(
    hosts: Hosts, base: str, emulator: Emulator, call: str, fault: dict[str, float]
) -> None:
    """Neither a late response nor a slow one makes it longer."""
    emulator.fail_next(None, method="GET", **fault)
    try:
        said = hosts.run(call, base=base, options=OPTIONS)
    finally:
        emulator.clear_faults()
    assert "total_timeout" in said


def test_retries_mend_failures(
    hosts: Hosts, base: str, emulator: Emulator, numbers: list[int]
) -> None:
    """A status, a connection that breaks, and a body that is cut off."""
    emulator.fail_next(status=503, method="GET")
    emulator.fail_next(reset=True, method="GET")
    emulator.fail_next(cut_off=10, method="GET")
    code = """
    policy = RetryPolicy(retries=3, wait_initial=0.01)
    with Client(base, retries=policy, **options) as client:
        views = client.stats.get(query).pageviews
    views
    """
    assert hosts.run(code, base=base, options=OPTIONS) == numbers[0]


def test_a_key_is_shown_nowhere(hosts: Hosts, base: str, emulator: Emulator) -> None:
    """A service may repeat it in an error."""
    body = {"error": f"with {OPTIONS['api_key']}"}
    emulator.fail_next(status=500, body=body, method="GET")
    code = """
    with Client(base, retries=0, **options) as client:
        try:
            client.stats.get(query)
        except StatusError as error:
            said = f"{error} {error!r} {error.body}"
    said
    """
    said = hosts.run(code, base=base, options=OPTIONS)
    assert "with …" in said
    assert OPTIONS["api_key"] not in said


def test_a_key_follows_no_redirect(hosts: Hosts, base: str, emulator: Emulator) -> None:
    """It would arrive at whatever address the response names."""
    emulator.fail_next(redirect=f"{base}/elsewhere.example.json", method="GET")
    code = """
    with Client(base, retries=0, **options) as client:
        try:
            client.stats.get(query)
        except SiteStatsError as error:
            said = str(error)
    said
    """
    assert "redirect" in hosts.run(code, base=base, options=OPTIONS)
    assert "elsewhere" not in str(emulator.requests)


def test_an_address_without_a_service_says_what_to_check(hosts: Hosts) -> None:
    """A browser does not tell a page why a request failed."""
    code = """
    with Client("http://127.0.0.1:9", retries=0) as client:
        try:
            client.stats.get(query)
        except ConnectionFailedError as error:
            said = str(error)
    said
    """
    assert "check the address" in hosts.run(code)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"proxy": "http://localhost:3128"}, "proxy"),
        ({"verify": False}, "verify="),
        ({"headers": {"User-Agent": "mine"}}, "User-Agent"),
    ],
)
def test_what_only_connections_have_is_refused(
    hosts: Hosts, given: dict[str, Any], name: str
) -> None:
    """Otherwise it would silently have no effect."""
    code = """
    try:
        AsyncClient("https://analytics.example", **given)
    except ConfigurationError as error:
        said = str(error)
    said
    """
    assert name in hosts.run(code, given=given)


@pytest.mark.parametrize("exposes", [False, True])
def test_a_page_sees_the_headers_that_are_exposed(
    hosts: Hosts, kind: str, *, exposes: bool
) -> None:
    """Without Retry-After our own pause holds, and without Date the browser's clock."""
    own = Emulator.made_up(1, days=5, exposes_headers=exposes, **OPTIONS)
    own.fail_next(status=429, retry_after=37, method="GET")
    own.fail_next(status=503, retry_after=0, method="GET")
    code = """
    with Client(base, **options) as client:
        try:
            client.with_options(retries=0).stats.get(query)
        except StatusError as error:
            seen = [error.retry_after, "date" in error.headers]
        views = client.stats.get(query).pageviews
    [seen, views]
    """
    with own.serve() as address:
        seen, views = hosts.run(code, base=address, options=OPTIONS)
    assert seen == ([37, True] if exposes or kind == "node" else [None, False])
    assert views > 0


# --- without a service ------------------------------------------------------------


def test_the_emulator_and_the_displays_work_in_memory(hosts: Hosts) -> None:
    """A notebook that somebody shares needs no service; a socket is refused."""
    code = """
    from sitestats.emulator import Emulator

    emulator = Emulator.demo()
    with emulator.client() as client:
        stats = client.stats.get(query.website("semicomplete.com"))
    try:
        emulator.serve().__enter__()
    except OSError as error:
        refused = str(error)
    [stats.pageviews, "<table" in stats._repr_html_(), str(stats), refused]
    """
    views, has_table, text, refused = hosts.run(code)
    assert views > 1000
    assert has_table
    assert "semicomplete.com" in text
    assert "emulator.client()" in refused


def test_old_names_of_zones_are_known(hosts: Hosts) -> None:
    """The zones are from the package tzdata, as everywhere."""
    assert hosts.run("query.timezone('Asia/Calcutta')\n1") == 1


def test_a_missing_extra_names_what_installs_it_here(hosts: Hosts) -> None:
    """There is no pip in a page."""
    code = """
    try:
        Stats.of(query, pageviews=1, pages=[]).to_polars()
    except MissingExtraError as error:
        said = str(error)
    said
    """
    assert "micropip.install('polars')" in hosts.run(code)


# --- the page ---------------------------------------------------------------------

REPORTER = """<script>
new MutationObserver(() => {
  const body = JSON.stringify(document.documentElement.outerHTML);
  fetch("result", { method: "POST", body });
}).observe(document.body, { attributeFilter: ["data-state"] });
</script></body>"""


def seen(folder: Path, website: str, service: str) -> str:
    """The page of the examples after its scripts have run, for this website."""
    hosts = Hosts(folder / "served")
    page = (ROOT / "examples" / "in_the_browser.html").read_text("utf-8")
    changes = {
        "PYODIDE": f"{hosts.address}/pyodide/pyodide.mjs",
        "SERVICE": service,
        "WEBSITE": website,
    }
    for name, value in changes.items():
        page, count = re.subn(
            f'const {name} = ".*";', f'const {name} = "{value}";', page
        )
        assert count == 1
    index = f"import micropip\nmicropip.set_index_urls(['{hosts.address}/simple'])\n"
    page = page.replace("import micropip\n", index).replace("</body>", REPORTER)
    (hosts.folder / "page.html").write_text(page, "utf-8")
    with opened(hosts, "page.html", folder / "profile"):
        return str(hosts.result())


def test_the_page_shows_public_statistics_without_a_key(tmp_path: Path) -> None:
    """The browser asks the service itself, without a key and without a preflight."""
    emulator = Emulator.demo()
    query = StatsQuery("semicomplete.com").fields("pageviews").last(days=30)
    with emulator.client() as client:
        views = client.stats.get(query).pageviews
    emulator.forget_requests()
    with emulator.serve() as address:
        page = seen(tmp_path, "semicomplete.com", address)
    (tmp_path / "page.html").write_text(page, "utf-8")
    assert f"{views:,}" in page
    assert "<table" in page
    (request,) = emulator.requests
    assert "api-key" not in {name.lower() for name in request.headers}


def test_the_page_says_what_went_wrong(tmp_path: Path) -> None:
    """A private website is refused, and the reason is on the page."""
    emulator = Emulator.demo()
    with emulator.serve() as address:
        page = seen(tmp_path, "blog.semicomplete.com", address)
    assert "status 401" in page.partition('id="problem"')[2]


# --- a part of the tests ----------------------------------------------------------

PURE = (
    "tests/query/test_builder.py",
    "tests/query/test_parameters.py",
    "tests/query/test_periods.py",
    "tests/query/test_rules.py",
    "tests/query/test_urls.py",
    "tests/wire",
)
"""The tests of what does no I/O, without those of NumPy."""
WITHOUT = (
    "tests/query/test_parameters.py::test_a_new_version_is_a_row",
    "tests/query/test_parameters.py::test_another_version_can_be_the_one_that_is_sent",
)
"""Some of them start another program, which Pyodide can't."""


def test_the_tests_of_what_does_no_io_pass(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Python there is another one, of 32 bits."""
    code = """
    import os
    import sys

    import pytest

    os.chdir("/project")
    sys.dont_write_bytecode = True
    sys.path[:0] = ["tests/support", "tests"]
    # There are no signals and no threads, which end tests that hang.
    settings = ["timeout=0", "faulthandler_timeout=0"]
    options = [part for setting in settings for part in ("-o", setting)]
    plugins = ["-p", "alias_httpx", "-p", "no:cacheprovider"]
    left_out = [part for test in without for part in ("--deselect", test)]
    chosen = ["-q", "--assert", "plain", "-m", "not long", *left_out, *paths]
    int(pytest.main([*options, *plugins, *chosen]))
    """
    # The tests name httpx, and respx stands in conftest.py.
    needed = ["certifi", "httpcore2", "hypothesis", "pytest", "pytest-timeout", "respx"]
    with node(tmp_path) as hosts:
        prepare(hosts, *needed, "sybil")
        status = hosts.run(code, paths=PURE, without=WITHOUT)
    printed = capfd.readouterr().out
    assert status == 0, printed[-5000:]
