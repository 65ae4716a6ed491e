"""Services that differ from the emulator in one way each: written from the document."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import httpx

Params = dict[str, str]
Change = Callable[[Params, Any], Any]


@attrs.frozen
class Changed:
    """One change of a service, and the case that has to find it."""

    name: str
    section: str
    case: str
    body: Change = lambda _, data: data
    """Changes the body of a response; its parameters are beside it."""
    params: Callable[[Params], Params] = lambda params: params
    """Changes the parameters of a request, before it is answered."""
    status: Mapping[int, int] = {}
    options: Mapping[str, Any] = {}
    """Options of the emulator, in place of a change here."""
    locked: bool = False


def each_website(change: Callable[[dict[str, Any]], Any]) -> Change:
    """Change the entries of the list of websites."""

    def body(_params: Params, data: Any) -> Any:
        for website in data.get("websites", ()):
            change(website)
        return data

    return body


def each_entry(name: str, change: Callable[[dict[str, Any]], Any]) -> Change:
    """Change the entries of one list of statistics."""

    def body(_params: Params, data: Any) -> Any:
        if isinstance(data.get(name), list):
            found = [(entry, change(entry)) for entry in data[name]]
            data[name] = [entry if new is None else new for entry, new in found]
        return data

    return body


def renamed(old: str, new: str) -> Callable[[dict[str, Any]], None]:
    """Rename a name of an object, where it is there."""

    def change(data: dict[str, Any]) -> None:
        if old in data:
            data[new] = data.pop(old)

    return change


def top(change: Callable[[dict[str, Any]], Any]) -> Change:
    """Change the object itself."""

    def body(_params: Params, data: Any) -> Any:
        change(data)
        return data

    return body


def as_text(name: str) -> Callable[[dict[str, Any]], None]:
    """Make a number a text."""

    def change(data: dict[str, Any]) -> None:
        if name in data:
            data[name] = str(data[name])

    return change


def a_day_later(data: dict[str, Any]) -> None:
    """End the period a day earlier, as if the last day were exclusive."""
    if "end" in data:
        day = int(data["end"][8:10])
        data["end"] = f"{data['end'][:8]}{max(day - 1, 1):02}{data['end'][10:]}"


def only(condition: Callable[[Params], bool], change: Change) -> Change:
    """Change the responses to some requests."""
    return lambda params, data: change(params, data) if condition(params) else data


def in_order(name: str, *, largest_first: bool) -> Change:
    """Order a list by page views."""
    return top(
        lambda data: (
            data[name].sort(
                key=lambda one: one.get("pageviews", 0), reverse=largest_first
            )
            if isinstance(data.get(name), list)
            else None
        )
    )


def without(name: str, **wanted: str) -> Callable[[Params], Params]:
    """Leave a parameter out, where it has one of the values."""

    def params(given: Params) -> Params:
        if given.get(name) == wanted.get("value", given.get(name)):
            given.pop(name, None)
        return given

    return params


CHANGES: Final = [
    Changed("a bare list", "4.1", "list-envelope", options={"bare_list": True}),
    Changed(
        "another name in the list",
        "2.1",
        "list-entries",
        body=each_website(renamed("is_public", "isPublic")),
    ),
    Changed(
        "texts for numbers in the list",
        "2.1",
        "list-entries",
        body=each_website(as_text("pageviews")),
    ),
    Changed("texts for totals", "2.3", "totals", body=top(as_text("visitors"))),
    Changed("end is exclusive", "8", "period", body=top(a_day_later)),
    Changed(
        "seconds for milliseconds",
        "8",
        "period",
        body=top(
            lambda data: data.update(
                {
                    name: data[name].replace(".000Z", "Z").replace(".999Z", "Z")
                    for name in ("start", "end")
                    if name in data
                }
            )
        ),
    ),
    Changed(
        "another version in the response",
        "9",
        "version-6",
        body=top(lambda data: data.update(version=5) if "version" in data else None),
    ),
    Changed(
        "the website's zone for the one requested",
        "4.3",
        "timezone",
        params=without("timezone", value="Pacific/Auckland"),
    ),
    Changed(
        "pages without visitors",
        "2.3",
        "pages",
        body=each_entry("pages", lambda entry: entry.pop("visitors", 0) and None),
    ),
    Changed(
        "countries as plain texts",
        "2.3",
        "countries",
        body=each_entry("countries", lambda entry: entry["value"]),
    ),
    Changed(
        "another device",
        "2.3",
        "device-types",
        body=each_entry("device_types", lambda entry: entry.update(value="phone")),
    ),
    Changed(
        "a histogram without quiet days",
        "2.3",
        "histogram-day",
        body=top(lambda data: data.get("histogram") and data["histogram"].pop(0)),
    ),
    Changed(
        "hours without their number",
        "2.3",
        "histogram-hour",
        body=each_entry("histogram", lambda entry: entry.pop("hour", None) and None),
    ),
    Changed(
        "no limit",
        "8",
        "limit",
        params=without("limit", value="1"),
    ),
    Changed(
        "a limit that is not refused",
        "8",
        "limit-too-large",
        params=without("limit", value="1001"),
    ),
    Changed(
        "no median in the entries",
        "2.3",
        "pages-seconds",
        body=each_entry(
            "pages", lambda entry: entry.pop("seconds_on_page", 0) and None
        ),
    ),
    Changed(
        "no entry for an event that nobody sent",
        "4.3",
        "events-named",
        body=top(lambda data: "events" in data and data["events"].clear()),
    ),
    Changed(
        "a code renamed",
        "7",
        "locked",
        locked=True,
        body=top(lambda data: data.update(code="BADGE") if "code" in data else None),
    ),
    Changed(
        "an error in another name",
        "7",
        "field-unknown",
        body=top(renamed("error", "msg")),
    ),
    Changed("another status of a refusal", "7", "field-unknown", status={400: 422}),
    Changed(
        "a private website that hides",
        "5",
        "private-without-key",
        status={401: 404},
    ),
    Changed(
        "the smallest first",
        "2.3",
        "order",
        body=in_order("pages", largest_first=False),
    ),
    Changed(
        "a contains search with too few characters",
        "4.3",
        "contains-short",
        params=lambda given: (
            {**given, "pages": given.get("pages", "")[:0] or "/*"}
            if given.get("pages", "").startswith("*")
            else given
        ),
    ),
    Changed(
        "no explanations", "2.3", "info", params=lambda given: given | {"info": "false"}
    ),
    Changed(
        "an unknown key counts as none",
        "5",
        "public-with-made-up-key",
        options={"ignore_unknown_keys": True},
    ),
    Changed(
        "entries for nothing", "2.3", "null-entries", options={"null_entries": True}
    ),
]


class ChangedTransport(httpx.BaseTransport):
    """What the emulator responds, with one change."""

    def __init__(self, inner: httpx.BaseTransport, change: Changed) -> None:
        self._inner = inner
        self._change = change

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        change, params = self._change, dict(request.url.params)
        url = request.url
        new = change.params(dict(params))
        if new != params:
            url = request.url.copy_with(params=new)
        response = self._inner.handle_request(
            httpx.Request(request.method, url, headers=request.headers)
        )
        response.read()
        content, status = response.content, response.status_code
        if response.headers["content-type"].startswith("application/json"):
            content = json.dumps(change.body(params, json.loads(content))).encode()
        headers = {
            name: value
            for name, value in response.headers.items()
            if name != "content-length"
        }
        status = change.status.get(status, status)
        return httpx.Response(status, headers=headers, content=content)
