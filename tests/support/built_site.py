"""Check the built documentation: its search and its links to the reference.

``nox -s docs`` runs it after the build, as a program.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

# What someone would type, and the page that has to come first.
FIRST: Final = {
    "429": "reliability",
    "dbt": "warehouse",
    "excel": "reports",
    "heat map": "notebooks/a-year-of-forty-websites",
    "mock": "testing-your-code",
    "pandas": "frames-and-plots",
    "proxy": "reliability",
    "rate limit": "reliability",
    "respx": "testing-your-code",
    "retry": "reliability",
    "sentry": "logging",
}
# A page, a name in its text, and where it has to lead.
LINKS: Final = (
    ("dates", "get_many", "sitestats.StatsAPI.get_many"),
    ("errors", "RateLimitedError", "sitestats.RateLimitedError"),
    ("dates", ".since(&quot;2026-01-01&quot;)", "sitestats.StatsQuery.since"),
    ("testing-your-code", "fail_next", "sitestats.emulator.Emulator.fail_next"),
    ("provisioning", "ensure", "sitestats.WebsitesAPI.ensure"),
)
TAG: Final = re.compile(r"<[^>]*>")


def is_first(index: dict[str, Any], words: str, page: str) -> bool:
    """Whether the *words* are a main entry of *page*, which search ranks first."""
    return [index["docnames"].index(page), "", True] in (
        index["indexentries"].get(words, [])
    )


def links_of(html: str) -> set[tuple[str, str]]:
    """The text and the anchor of each link that is code."""
    links = re.findall(r'<a class="[^"]*" href="[^"#]*#([^"]+)"[^>]*>(.*?)</a>', html)
    return {(TAG.sub("", text), anchor) for anchor, text in links if "<code" in text}


def faults(site: Path) -> list[str]:
    """What is wrong with the site."""
    script = (site / "searchindex.js").read_text("utf-8")
    index = json.loads(script.removeprefix("Search.setIndex(").rstrip(";)\n"))
    wrong = [
        f"a search for {words!r} does not find {page} first"
        for words, page in FIRST.items()
        if not is_first(index, words, page)
    ]
    for page, text, anchor in LINKS:
        html = (site / f"{page}.html").read_text("utf-8")
        if (text, anchor) not in links_of(html):
            wrong.append(f"{page}: {text!r} does not lead to {anchor}")
    return wrong


if __name__ == "__main__":
    if found := faults(Path(sys.argv[1])):
        sys.exit("\n".join(found))
