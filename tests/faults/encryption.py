"""Cases: TLS that does not hold what it promises."""

from __future__ import annotations

from .answers import GOOD, answer, head
from .script import HASTY, Case, Finish, Hear, Reset, Say, Secure, Silence

_HTTPS = {"scheme": "https"}

TLS = (
    Case(
        "encrypts as it should",
        "TLS with a certificate of the authority that is trusted",
        ((Secure(), Hear(), Say(answer()), Finish()),),
        "value",
        options=_HTTPS,
    ),
    Case(
        "shows an expired certificate",
        "TLS with a certificate that ended in 2020",
        ((Secure("expired"), Hear(), Say(answer()), Finish()),),
        "ConnectionFailedError",
        tries=3,
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "shows a foreign certificate",
        "TLS with a certificate of an unknown authority",
        ((Secure("foreign"), Hear(), Say(answer()), Finish()),),
        "ConnectionFailedError",
        tries=3,
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "shows the certificate of another host",
        "TLS with a certificate for elsewhere.example",
        ((Secure("elsewhere"), Hear(), Say(answer()), Finish()),),
        "ConnectionFailedError",
        tries=3,
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "speaks plain HTTP where TLS belongs",
        "an answer in place of the handshake",
        ((Say(answer()), Finish()),),
        "ConnectionFailedError",
        tries=3,
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "is silent in the handshake",
        "reads the client's part of the handshake and says nothing",
        ((Silence(),),),
        "RequestTimeoutError",
        tries=3,
        options={**_HTTPS, **HASTY},
        has={"maybe_sent": False},
    ),
    Case(
        "resets in the handshake",
        "resets in place of the handshake",
        ((Reset(),),),
        "ConnectionFailedError",
        tries=3,
        options=_HTTPS,
        has={"maybe_sent": False},
    ),
    Case(
        "speaks TLS where plain HTTP belongs",
        "waits for a handshake that does not come",
        ((Secure(),),),
        "ConnectionFailedError",
        tries=3,
    ),
    Case(
        "cuts the body within TLS",
        "half of the body, then an end of TLS in all form",
        (
            (
                Secure(),
                Hear(),
                Say(head(f"Content-Length: {len(GOOD)}") + GOOD[:20]),
                Finish(),
            ),
        ),
        "ConnectionFailedError",
        tries=3,
        options=_HTTPS,
    ),
    Case(
        "resets within TLS",
        "reads the request within TLS and resets",
        ((Secure(), Hear(), Reset()),),
        "ConnectionFailedError",
        tries=3,
        options=_HTTPS,
        has={"maybe_sent": True},
    ),
    Case(
        "redirects to plain HTTP",
        "302 from https to http",
        (
            (
                Secure(),
                Hear(),
                Say(
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
