"""Cases: TLS errors, such as bad certificates and failed handshakes."""

from __future__ import annotations

from .responses import GOOD, head, response
from .script import (
    SHORT_TIMEOUT,
    Case,
    Finish,
    ReadRequest,
    Reset,
    Send,
    Silence,
    StartTls,
)

_HTTPS = {"scheme": "https"}

TLS = (
    Case(
        "encrypts correctly",
        "TLS with a certificate of a trusted authority",
        ((StartTls(), ReadRequest(), Send(response()), Finish()),),
        "value",
        options=_HTTPS,
    ),
    Case(
        "shows an expired certificate",
        "TLS with a certificate that expired in 2020",
        ((StartTls("expired"), ReadRequest(), Send(response()), Finish()),),
        "ConnectionFailedError",
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "shows a foreign certificate",
        "TLS with a certificate of an unknown authority",
        ((StartTls("foreign"), ReadRequest(), Send(response()), Finish()),),
        "ConnectionFailedError",
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "shows the certificate of another host",
        "TLS with a certificate for elsewhere.example",
        ((StartTls("elsewhere"), ReadRequest(), Send(response()), Finish()),),
        "ConnectionFailedError",
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "speaks plain HTTP in place of TLS",
        "a response in place of the handshake",
        ((Send(response()), Finish()),),
        "ConnectionFailedError",
        attempts=3,
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "is silent in the handshake",
        "reads the client's part of the handshake and sends nothing",
        ((Silence(),),),
        "RequestTimeoutError",
        attempts=3,
        options={**_HTTPS, **SHORT_TIMEOUT},
        has={"maybe_sent": False},
    ),
    Case(
        "resets in the handshake",
        "resets in place of the handshake",
        ((Reset(),),),
        "ConnectionFailedError",
        attempts=3,
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "speaks TLS in place of plain HTTP",
        "waits for a handshake that does not come",
        ((StartTls(),),),
        "ConnectionFailedError",
        attempts=3,
    ),
    Case(
        "cuts the body within TLS",
        "half of the body, then a proper end of TLS",
        (
            (
                StartTls(),
                ReadRequest(),
                Send(head(f"Content-Length: {len(GOOD)}") + GOOD[:20]),
                Finish(),
            ),
        ),
        "ConnectionFailedError",
        attempts=3,
        options=_HTTPS,
    ),
    Case(
        "resets within TLS",
        "reads the request within TLS and resets",
        ((StartTls(), ReadRequest(), Reset()),),
        "ConnectionFailedError",
        attempts=3,
        options=_HTTPS,
        has={"maybe_sent": True},
    ),
    Case(
        "redirects to plain HTTP",
        "302 from https to http",
        (
            (
                StartTls(),
                ReadRequest(),
                Send(
                    head(
                        "Location: %ELSEWHERE%/",
                        "Content-Length: 0",
                        status="302 Found",
                    )
                ),
                Finish(),
            ),
        ),
        "ServiceError",
        options=_HTTPS,
    ),
)
