"""Services that differ from the emulator in one way each: written from the document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

import attrs
import httpx

TABLE: Final = """
a bare list | 4.1 | list-envelope | option bare_list
another name in the list | 2.1 | list-entries | rename websites.is_public isPublic
texts for numbers in the list | 2.1 | list-entries | text websites.pageviews
texts for totals | 2.3 | totals | text visitors
end is exclusive | 8 | period | day-before end
seconds for milliseconds | 8 | period | seconds end
another version in the response | 9 | version-6 | set version 5
the website's zone for the one requested | 4.3 | timezone | ignore timezone
pages without visitors | 2.3 | pages | drop pages.visitors
countries as plain texts | 2.3 | countries | plain countries
another device | 2.3 | device-types | set device_types.value phone
a histogram without quiet days | 2.3 | histogram-day | shorten histogram
hours without their number | 2.3 | histogram-hour | drop histogram.hour
weeks without their number | 2.3 | histogram-week | drop histogram.week
no limit | 8 | limit | ignore limit
a limit that is not refused | 8 | limit-too-large | ignore limit
no median in the entries | 2.3 | pages-seconds | drop pages.seconds_on_page
nothing for an event that nobody sent | 4.3 | events-named | empty events
a code renamed | 7 | locked | set code BADGE
an error in another name | 7 | field-unknown | rename error msg
another status of a refusal | 7 | field-unknown | status 400 422
a private website that hides | 5 | private-without-key | status 401 404
the smallest first | 2.3 | order | reverse pages
a contains search that is not refused | 4.3 | contains-short | ignore pages
no explanations | 2.3 | info | replace info false
no version 1 | 9 | version-1 | replace version 2
an unknown key counts as none | 5 | public-with-made-up-key | option ignore_unknown_keys
entries for nothing | 2.3 | null-entries | option null_entries
"""
"""The name of each change, its section, the case that has to find it, and itself."""


@attrs.frozen
class Changed:
    """One change of a service."""

    name: str
    section: str
    case: str
    change: str

    @property
    def option(self) -> str:
        """The option of the emulator that it is; empty for another change."""
        return self.change.partition("option ")[2]


CHANGES: Final = [
    Changed(*(cell.strip() for cell in line.split("|")))
    for line in TABLE.strip().splitlines()
]


def day_before(text: str) -> str:
    """The same time of the day before."""
    moment = datetime.fromisoformat(text) - timedelta(days=1)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


VALUES: Final[dict[str, Callable[..., Any]]] = {
    "text": str,
    "set": lambda _value, new: int(new) if new.isdigit() else new,
    "day-before": day_before,
    "seconds": lambda text: text[:19] + "Z",
    "plain": lambda entries: [entry["value"] for entry in entries],
    "shorten": lambda entries: entries[1:],
    "empty": lambda _entries: [],
    "reverse": lambda entries: entries[::-1],
}


def holders(data: Any, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects that have the name at the end of *path*, and that name."""
    within, dot, name = path.rpartition(".")
    found = data.get(within, ()) if dot and isinstance(data, dict) else [data]
    return ((one, name) for one in found if isinstance(one, dict) and name in one)


def changed(data: Any, verb: str, path: str, *new: str) -> Any:
    """*data* with the change."""
    for holder, name in holders(data, path):
        value = holder.pop(name) if verb in {"drop", "rename"} else holder[name]
        if verb == "rename":
            holder[new[0]] = value
        elif verb != "drop":
            holder[name] = VALUES[verb](value, *new)
    return data


class ChangedTransport(httpx.BaseTransport):
    """What the emulator responds, with one change."""

    def __init__(self, inner: httpx.BaseTransport, change: str) -> None:
        self._inner = inner
        self._change = change.split()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        (verb, name, *new), params = self._change, dict(request.url.params)
        if verb == "ignore":
            params.pop(name, None)
        if verb == "replace":
            params[name] = new[0]
        url = request.url.copy_with(params=params)
        response = self._inner.handle_request(
            httpx.Request(request.method, url, headers=request.headers)
        )
        status, content = response.status_code, response.read()
        if verb == "status" and name == str(status):
            status = int(new[0])
        is_json = response.headers["content-type"].startswith("application/json")
        if is_json and verb in {"drop", "rename", *VALUES}:
            data = changed(json.loads(content), *self._change)
            content = json.dumps(data).encode()
        del response.headers["content-length"]
        return httpx.Response(status, headers=response.headers, content=content)
