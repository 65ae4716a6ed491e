"""Set-ups that are broken: ``check`` names the one thing that is wrong, and what to do.

Each is run as a command, and by ``client.check()``. No key is in what either shows.
"""

from __future__ import annotations

import datetime as dt
import errno
import json
import os
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trustme

from loopback import AUTHORITY, Connection, Script, closed_address, serve, silent, whole
from secret_search import shown_by
from sitestats import Client, SiteStatsError

if TYPE_CHECKING:
    from commands import Run

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*without TLS",
    # httpx leaves some sockets of proxies that fail to the garbage collection.
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

KEY = "sa_api_key_0123456789abcdefghijklmn"
USER = "sa_user_id_00000000-0000-4000-8000-000000000000"
PASSWORD = "p4ssw0rd-of-the-proxy"
HOST = "shop.example"
ANSWERED = {"API key", "credentials", "website", "service"}
"""The rows that can be wrong where the service itself answers."""
VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


def page(title: str, status: str, *headers: str) -> bytes:
    """A page as nginx 1.22 writes it."""
    body = (
        f"<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n"
        f"<center><h1>{title}</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n"
        "</body>\r\n</html>\r\n"
    )
    lines = ("Server: nginx/1.22.1", "Content-Type: text/html", *headers)
    return whole(body.encode(), *lines, status=status)


def says(*responses: bytes) -> Script:
    """Send these responses on each connection, and the last one again and again."""

    def script(connection: Connection) -> None:
        left = [*responses]
        while connection.request():
            connection.send(left.pop(0) if len(left) > 1 else left[0])

    return script


def refusal(status: int, /, **data: Any) -> bytes:
    """An error response of the service itself."""
    body = json.dumps({"success": False, **data}).encode()
    return whole(body, "Content-Type: application/json", status=f"{status} No")


LISTED = whole(b'{"success": true, "websites": []}')
NGINX_404 = page("404 Not Found", "404 Not Found")


@attrs.frozen
class Broken:
    """A set-up, the one row that is wrong, and words of what to do."""

    row: str
    words: str
    script: Script | None = None
    """What answers at the base address; nothing does without it."""
    env: dict[str, str] = attrs.field(factory=dict[str, str])
    """The variables that differ. ``%s`` is the address, and ``~`` the test's folder."""
    certificate: Callable[[], ssl.SSLContext] | None = None
    proxy: Script | None = None
    """What answers at the address ``%p``."""
    arguments: tuple[str, ...] = ()
    code: int = 3
    timeout: float = 30.0


def answer(words: str, *responses: bytes, code: int = 3, **more: Any) -> Broken:
    """Something else than the service answers."""
    return Broken("connection", words, says(*responses), code=code, **more)


def certified(words: str, make: Callable[[], ssl.SSLContext]) -> Broken:
    """A certificate that no client takes."""
    env = {"SSL_CERT_FILE": "~/authority.pem"}
    return Broken("connection", words, says(LISTED), env, make)


def proxied(words: str, proxy: Script, name: str, **more: Any) -> Broken:
    """A proxy, which the variable *name* names."""
    scheme = name.lower().partition("_")[0]
    env = {"SITESTATS_BASE_URL": f"{scheme}://stats.example", name: "%p"}
    return Broken("connection", words, env=env, proxy=proxy, **more)


def service(row: str, words: str, *responses: bytes, **more: Any) -> Broken:
    """The service itself answers."""
    return Broken(row, words, says(*responses), **more)


def certificate(
    name: str = "localhost", authority: trustme.CA = AUTHORITY, days: int = 1
) -> Callable[[], ssl.SSLContext]:
    """What makes a certificate for *name* that is valid for so many days from now."""

    def make() -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        end = dt.datetime.now() + dt.timedelta(days=days)  # noqa: DTZ005  trustme's
        issued = authority.issue_cert(
            name, not_before=end - dt.timedelta(days=9), not_after=end
        )
        issued.configure_cert(context)
        return context

    return make


FIREWALL = "whoever runs that to let it through"
GATEWAY = "a gateway on the way can't reach the service"
PROXY = f"http://u:{PASSWORD}@127.0.0.1"
SETTINGS = f"""
ALL_PROXY=socks4://u:{PASSWORD}@127.0.0.1:1080/ | ALL_PROXY is not the address of a pro
ALL_PROXY=socks://u:{PASSWORD * 20}@127.0.0.1:1 | a password of more than 255 bytes
HTTP_PROXY={PROXY}:3128⏎                   | HTTP_PROXY is not the address of a proxy
HTTP_PROXY="{PROXY}:3128"                  | it has a quote at an end
HTTP_PROXY={PROXY}:3128  # the office's    | it has a '#' and a comment
HTTP_PROXY=http://u:{PASSWORD}#1@127.0.0.1:3128 | write them as %23
HTTP_PROXY={PROXY}:3128 & NO_PROXY="localhost" | NO_PROXY is not usable
SSLKEYLOGFILE=~/none/keys & SITESTATS_BASE_URL=https://a.example | can't be written
SSL_CERT_FILE=~/none & SITESTATS_BASE_URL=https://a.example | names a file of cert
SITESTATS_API_KEY='{KEY}'                  | SITESTATS_API_KEY is not usable: it has a q
SITESTATS_USER_ID="{USER}"                 | SITESTATS_USER_ID is not usable: it has a q
SITESTATS_BASE_URL="https://stats.example" | SITESTATS_BASE_URL: The base address is not
SITESTATS_API_KEY={KEY}⏎                   | SITESTATS_API_KEY is not usable: it ends wi
SITESTATS_API_KEY= & SITESTATS_API_KEY_FILE=~/empty | names a file that is empty
SITESTATS_API_KEY= & SITESTATS_API_KEY_FILE={KEY} | names a file that can't be read
"""
"""Variables of which no client can be made, where ⏎ is a line end, and words of the
error."""
PAGES = f"""
a wrong path        | 404 Not Found          | 404 Not Found | 3 | Found', sent by
a firewall          | 403 Forbidden          | Just a moment | 3 | {FIREWALL}
a login page        | 200 OK                 | Log in        | 5 | a page to log in
a captive portal    | 511 Network            | Log in        | 4 | log in
a load balancer without a service | 502 Bad Gateway | 502    | 4 | {GATEWAY}
a CDN without an origin | 522 Origin | shop.example : 522    | 4 | {GATEWAY}
a gateway that waited too long | 408 Request Time-out | 408  | 4 | try again
"""
"""Pages that others answer with: their status, title, the exit code, and words."""


SET_UPS: dict[str, Broken] = {
    "a gateway's own login": answer(
        FIREWALL, page("401", "401 Unauthorized", 'WWW-Authenticate: Basic realm="x"')
    ),
    "a redirect to a portal": answer(
        "http://portal.example/",
        page("Moved", "302 Found", "Location: http://portal.example/?u=1"),
    ),
    "a text of a web server": answer(
        "404 page not found (status 404, GET /api/websites): the service responds with",
        whole(b"404 page not found\n", status="404 Not Found"),
    ),
    "an empty page": answer("is empty", whole(b""), code=5),
    "a path below the service": service(
        "base address",
        "check the base address",
        refusal(404, status=404, message="/dash/api/websites"),
        env={"SITESTATS_BASE_URL": "%s/dash"},
    ),
    "a user ID without a key": service(
        "API key",
        "look whether the key is empty",
        refusal(400, error="No Api-Key found, specify via header"),
        env={"SITESTATS_API_KEY": ""},
        code=2,
    ),
    # Connections.
    "http for https": answer(
        "begin the base address with https://",
        page("400 The plain HTTP request was sent to HTTPS port", "400 Bad"),
    ),
    "http for https that says nothing": Broken(
        "connection",
        "begin the base address with https://",
        lambda connection: (connection.request(), connection.send(b"\x15\x03\x01\0\2")),
        code=4,
    ),
    "https for http": Broken(
        "connection",
        "begin its address with http://",
        lambda connection: (connection.take(), connection.send(NGINX_404)),
        {"SITESTATS_BASE_URL": "https://localhost:%n"},
    ),
    "an expired certificate": certified(
        "The certificate has expired", certificate(days=-1)
    ),
    "a certificate of tomorrow": certified(
        "not valid yet: check the clock", certificate(days=20)
    ),
    "a certificate for another host": certified(
        "for another host: check the host name of the base address",
        certificate("other.example"),
    ),
    "a certificate of an unknown authority": certified(
        "SSL_CERT_FILE is set: it says which authorities are trusted",
        certificate(authority=trustme.CA()),
    ),
    "no such name": Broken(
        "connection",
        "Check the host name of the base address",
        env={"SITESTATS_BASE_URL": "http://nobody.invalid"},
    ),
    "a host with IPv6 alone": Broken(
        "connection",
        "only IPv6 addresses",
        env={"SITESTATS_BASE_URL": "http://[::1]:9"},
        code=4,
    ),
    "nobody at the port": Broken(
        "connection", "Nothing listens there: check the host and the port", code=4
    ),
    "a slow service": Broken(
        "connection", "within timeout", silent, timeout=0.2, code=4
    ),
    # Proxies.
    "a proxy that is down": Broken(
        "connection",
        "(HTTP_PROXY): ",
        env={"SITESTATS_BASE_URL": "http://stats.example", "HTTP_PROXY": f"{PROXY}:1"},
        code=4,
    ),
    "a slow proxy": proxied(
        "within timeout", silent, "HTTPS_PROXY", timeout=0.2, code=4
    ),
    "a proxy that wants a login": proxied(
        "from http_proxy",
        says(page("Who?", "407 Proxy Authentication Required")),
        "http_proxy",
    ),
    "a tunnel that wants a login": proxied(
        "http://USER:PASSWORD@HOST:PORT",
        says(whole(b"", status="407 Proxy Authentication Required")),
        "HTTPS_PROXY",
    ),
    "a tunnel that is refused": proxied(
        "The proxy refuses to connect there",
        says(whole(b"", status="403 Forbidden")),
        "HTTPS_PROXY",
    ),
    "a web server in place of a proxy": proxied(
        "from HTTP_PROXY", says(page("Welcome", "200 OK")), "HTTP_PROXY", code=5
    ),
    # The service itself answers.
    "a wrong key": service(
        "credentials", "account settings", refusal(400, error=f"Invalid Api-Key {KEY}")
    ),
    "a wrong user ID": service(
        "credentials",
        "its user ID from SITESTATS_USER_ID",
        refusal(400, error="Invalid user id format, it should be a UUIDv4"),
    ),
    "a wrong key, as a text": service(
        "credentials", "account settings", whole(b"Wrong API key", status="401 No")
    ),
    "no rights": service(
        "credentials",
        "ask for the role",
        refusal(403, error="You need the admin role"),
    ),
    "a pause in force": service(
        "service",
        "try again in 30 s",
        whole(b'{"error": "Slow down"}', "Retry-After: 30", status="429 Too Many"),
        code=4,
    ),
    "a service that fails": service(
        "service", "try later", refusal(500, error="It broke"), code=4
    ),
    "a website that is locked": service(
        "website",
        "put the badge back",
        *(LISTED, refusal(423, code="BADGE_REQUIRED")),
        arguments=(HOST,),
    ),
    "a website that nobody knows": service(
        "website",
        "check how it is written",
        *(LISTED, refusal(404, status=404, message=f"/{HOST}.json")),
        arguments=(HOST,),
    ),
    "a firewall before a website": answer(
        FIREWALL, LISTED, page("Blocked", "403 Forbidden"), arguments=(HOST,)
    ),
}
for row in SETTINGS.strip().splitlines():
    variables, words = row.split(" | ")
    pairs = [one.split("=", 1) for one in variables.strip().split(" & ")]
    env = {name: value.replace("⏎", "\r\n") for name, value in pairs}
    SET_UPS[variables[:40]] = Broken("settings", words, env=env, code=2)
for row in PAGES.strip().splitlines():
    name, status, title, code, words = (cell.strip() for cell in row.split(" | "))
    SET_UPS[name] = answer(words, page(title, status), code=int(code))


@pytest.fixture(params=SET_UPS)
def broken(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Broken]:
    """A set-up that is broken, in the environment."""
    if os.name == "nt":
        pytest.skip("its messages are of Linux")
    case = SET_UPS[request.param]
    AUTHORITY.cert_pem.write_to_path(str(tmp_path / "authority.pem"))
    (tmp_path / "empty").write_text("\n")
    for name in [*os.environ]:
        if name.startswith("SITESTATS_") or name.upper() in VARIABLES:
            monkeypatch.delenv(name)
    connect = socket.socket.connect

    def connect_by_ipv4(sock: socket.socket, address: Any) -> None:
        if sock.family == socket.AF_INET6:
            raise OSError(errno.ENETUNREACH, "Network is unreachable")
        connect(sock, address)

    monkeypatch.setattr(socket.socket, "connect", connect_by_ipv4)
    with ExitStack() as stack:
        address = closed_address()
        if case.script is not None:
            tls = None if case.certificate is None else case.certificate()
            address = stack.enter_context(serve(case.script, tls)).address
        proxy = ""
        if case.proxy is not None:
            proxy = stack.enter_context(serve(case.proxy)).address
        env = {
            "SITESTATS_BASE_URL": "%s",
            "SITESTATS_API_KEY": KEY,
            "SITESTATS_USER_ID": USER,
            **case.env,
        }
        port = address.rpartition(":")[2]
        for name, value in env.items():
            text = value.replace("%s", address).replace("%p", proxy)
            text = text.replace("%n", port).replace("~", str(tmp_path))
            monkeypatch.setenv(name, text)
        yield case


def test_one_row_is_wrong(broken: Broken, run: Run) -> None:
    """It says what to do, and the exit code tells whether to wait helps. No key and no
    password is in it; nor in the report of the library, or its error, with all frames
    and variables.
    """
    done = run("check", *broken.arguments, "--timeout", broken.timeout)
    wrong = [line for line in done.out.splitlines() if line.startswith("✗")]
    assert len(wrong) == 1, done
    assert wrong[0].startswith(f"✗ {broken.row}  "), wrong
    assert broken.words in wrong[0], wrong
    assert done.code == broken.code
    assert ("✓ connection" in done.out) is (broken.row in ANSWERED)
    shown = done.out + done.err + shown_by_client(broken)
    for secret in (KEY, USER, PASSWORD):
        assert secret not in shown


def shown_by_client(broken: Broken) -> str:
    """What ``client.check()`` shows of a set-up."""
    try:
        with Client(timeout=broken.timeout) as client:
            report = client.check(*broken.arguments)
    except SiteStatsError as error:
        return shown_by(error)
    shown = f"{report} {report!r} {report.to_dict()}"
    return shown if report.error is None else shown + shown_by(report.error)


def test_a_check_works_without_socksio(
    monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """The error says what to install, and which variable asks for it."""
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv("SITESTATS_BASE_URL", "http://stats.example")
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:7890/")
    monkeypatch.delenv("HTTP_PROXY", raising=False)
    done = run("check")
    assert done.code == 2
    assert "✗ settings" in done.out
    assert "ALL_PROXY names a SOCKS proxy" in done.out
    assert "pip install httpx[socks]" in done.out
