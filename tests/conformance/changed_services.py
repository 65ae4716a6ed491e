"""Services that differ from the emulator in one way each: written from the document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

import attrs
import httpx

TABLE: Final = """
a bare list | list-envelope | option bare_list
another name of the list | list-envelope | rename websites sites
another name in the list | list-entries | rename websites.is_public isPublic
texts for numbers in the list | list-entries | text websites.pageviews
an empty own hostname | list-entries | set websites.own_hostname ""
another status without a key | list-without-key | status 400 401
texts for totals | totals | text visitors
no ok | totals | drop ok
everything within data | totals | within data
text in place of JSON | totals | type application/json text/plain
no Date | totals | without date
no prose without info | info-default | default info false
more visitors than page views | numbers | set visitors 10000000
a total that is not the sum | numbers | double pageviews
visitors who come again | numbers | set visitors 1
another version in the response | version-6 | set version 5
the website's zone for the one requested | timezone | ignore timezone
end is exclusive | period | later end -86400
another name of start | period | rename start from
yesterday is today | period-words | replace end=yesterday today
another default period | period-default | default start 2025-01-01
a period backwards is turned | period-backwards | turned start end
a zone in any case | timezone-lower-case | replace timezone=europe/berlin Europe/Berlin
no days without visits | histogram-day | shorten histogram
dates with a time | histogram-day | format histogram.date %Y-%m-%dT00:00:00Z
dates shifted by a day | histogram-day | later histogram.date 86400
the newest day first | histogram-day | reverse histogram
days by their names | histogram-day | keyed histogram date
hours as texts | histogram-hour | text histogram.hour
weeks without their number | histogram-week | drop histogram.week
months without a day | histogram-month | cut histogram.date 7
a limit of the histogram | histogram-limit | only limit=1 shorten histogram
an unknown interval is days | interval-unknown | replace interval=minute day
hours in version 5 | hour-version-5 | replace version=5 6
another name of a page | pages | rename pages.value path
addresses of pages | pages | before pages.value https://shop.example
a name that some pages lack | pages | half pages.visitors
the smallest first | order | reverse pages
no limit | limit | ignore limit
a limit that is not refused | limit-too-large | replace limit=1001 1000
milliseconds on page | pages-seconds | times seconds_on_page 1000
no median | pages-seconds | set seconds_on_page null
countries as plain texts | countries | plain countries
countries in small letters | countries | lower countries.value
addresses of referrers | referrers | before referrers.value https://
entries for nothing | null-entries | option null_entries
another name in one list | browsers | rename os_names.pageviews visits
another device | device-types | set device_types.value "phone"
another name of an event's count | events-all | rename events.total count
nothing for an event that nobody sent | events-named | empty events
the page of an address is not named | page-in-address | set path "*"
a page filter is ignored | page-filter | ignore page
a country filter is ignored | country-filter | ignore country
a referrer filter is ignored | referrer-filter | ignore referrer
a metadata filter is ignored | metadata | ignore metadata.sitestats_check
a contains search that is not refused | contains-short | ignore pages
a default of fields | fields-missing | default fields pageviews
an error in another name | field-unknown | rename error msg
another status of a refusal | field-unknown | status 400 422
another call of JSONP | jsonp | before-all show( /**/show(
no version 1 | version-1 | default version 6
new names in version 4 | version-4 | rename pages.visits pageviews
a private website that hides | private-without-key | status 401 404
an unknown key counts as none | public-with-made-up-key | option ignore_unknown_keys
a code renamed | locked | set code "BADGE"
an unknown website is a wrong request | unknown-website | status 404 400
capitals count in no contains search | | replace pages=*Sitestats* *sitestats*
a * at the end is a letter | | replace page=/a* /a
another default limit | | default limit 100
more events for a star | | default events-limit 2000
no header for pages of other websites | | without access-control-allow-origin
"""
"""The name of each change, the case that has to find it, and the change."""


@attrs.frozen
class Changed:
    """One change of a service."""

    name: str
    case: str
    """Empty if no case can find it, as the page says."""
    change: str

    @property
    def option(self) -> str:
        """The option of the emulator that it is; empty for another change."""
        return self.change.partition("option ")[2]


CHANGES: Final = [
    Changed(*(cell.strip() for cell in line.split("|")))
    for line in TABLE.strip().splitlines()
]


def later(text: str, seconds: str) -> str:
    """A time, or a date, so many seconds later."""
    moment = datetime.fromisoformat(text) + timedelta(seconds=int(seconds))
    if len(text) == len("2026-01-01"):
        return moment.date().isoformat()
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


VALUES: Final[dict[str, Callable[..., Any]]] = {
    "text": str,
    "double": lambda value: 2 * value,
    "times": lambda value, factor: value and value * int(factor),
    "set": lambda _value, new: json.loads(new),
    "later": later,
    "cut": lambda text, length: text[: int(length)],
    "format": lambda text, form: datetime.fromisoformat(text).strftime(form),
    "before": lambda text, start: start + text,
    "lower": str.lower,
    "plain": lambda entries: [entry["value"] for entry in entries],
    "keyed": lambda entries, name: {entry[name]: entry for entry in entries},
    "shorten": lambda entries: entries[1:],
    "empty": lambda _entries: [],
    "reverse": lambda entries: entries[::-1],
}
"""What becomes of a value."""


def holders(data: Any, path: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects that have the name at the end of *path*, and that name."""
    within, dot, name = path.rpartition(".")
    found = data.get(within, ()) if dot and isinstance(data, dict) else [data]
    return ((one, name) for one in found if isinstance(one, dict) and name in one)


def changed(data: Any, verb: str, path: str, *new: str) -> Any:
    """*data* with the change."""
    if verb == "within":
        return {path: data}
    for number, (holder, name) in enumerate(holders(data, path)):
        if verb == "half" and number % 2:
            continue
        value = holder.pop(name) if verb in {"drop", "rename", "half"} else holder[name]
        if verb == "rename":
            holder[new[0]] = value
        elif verb in VALUES:
            holder[name] = VALUES[verb](value, *new)
    return data


def requested(params: dict[str, str], verb: str, name: str, *new: str) -> None:
    """Change what is requested of the service that does not know it."""
    if verb == "ignore":
        params.pop(name, None)
    elif verb == "default":
        params.setdefault(name, new[0])
    elif verb == "replace":
        name, _, old = name.partition("=")
        if params.get(name) == old:
            params[name] = new[0]
    elif verb == "turned" and params.get(name, "") > params.get(new[0], "~"):
        params[name], params[new[0]] = params[new[0]], params[name]


class ChangedTransport(httpx.BaseTransport):
    """What the emulator responds, with one change."""

    def __init__(self, inner: httpx.BaseTransport, change: str) -> None:
        self._inner = inner
        self._change = change.split()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        change, params = self._change, dict(request.url.params)
        if change[0] == "only":
            name, _, value = change[1].partition("=")
            change = change[2:] if params.get(name) == value else ["nothing", ""]
        verb, name, *new = change
        is_list = request.url.path == "/api/websites"
        if not is_list:
            requested(params, *change)
        url = request.url.copy_with(params=params)
        response = self._inner.handle_request(
            httpx.Request(request.method, url, headers=request.headers)
        )
        status, content = response.status_code, response.read()
        headers = {**response.headers}
        del headers["content-length"]
        if verb == "status" and name == str(status):
            status = int(new[0])
        elif verb == "without":
            headers.pop(name, None)
        elif verb == "type":
            headers["content-type"] = headers["content-type"].replace(name, *new)
        elif verb == "before-all":
            content = content.replace(name.encode(), new[0].encode(), 1)
        elif headers["content-type"].startswith("application/json"):
            content = json.dumps(changed(json.loads(content), *change)).encode()
        return httpx.Response(status, headers=headers, content=content)
