"""Attacks (XSS) that a visitor might put into a path or a referrer."""

from __future__ import annotations

ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "'\"><svg onload=alert(1)>",
    "</td></tr></table><h1>",
    "</style><script>alert(1)</script>",
    "javascript:alert(1)",
    "<!--",
    "]]>",
    "&lt;script&gt;",
    "&#x3c;b&#x3e;",
    "\x00<b>",
    "\u202e</b>",
    "<a href='javascript:alert(1)'>x</a>",
    "{{7*7}}${7*7}",
    "' onmouseover='alert(1)",
    '" style="background:url(//x)',
]
