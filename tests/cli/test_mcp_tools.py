"""The tools for assistants, without the protocol."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cli.inside import LARGEST_ANSWER, Tools, WrongCallError
from sitestats.emulator import Emulator

HOST = "semicomplete.com"


@pytest.fixture(scope="module")
def service() -> Emulator:
    """The demo's websites."""
    return Emulator.demo()


@pytest.fixture
def tools(service: Emulator) -> Tools:
    """The tools that only read."""
    return Tools(service.client(read_only=True))


def answer(tools: Tools, name: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a tool."""
    answered: dict[str, Any] = json.loads(tools.call(name, arguments))
    return answered


MISTAKES = """
get_stats {} | give hostname
get_stats {"hostname": "H", "fields": ["visitor"]} | did you mean 'visitors'?
get_stats {"hostname": "H", "field": ["visitors"]} | did you mean 'fields'?
get_stats {"hostname": "H"} | give fields, events, or both
get_stats {"hostname": "H", "fields": ["pages"], "limit": 2000} | at most 100
get_stats {"hostname": "H", "fields": ["pages"], "during": "October"} | name the year
get_stats {"hostname": "H", "fields": ["pages"], "start": "March"} | name the year
get_stats {"hostname": "H", "fields": ["pages"], "during": "2026-1"} | during '2026-01'
get_stats {"hostname": "H", "fields": ["pages"], "last": 7, "during": "2026"} | one of
get_stats {"hostname": "H", "fields": ["pages"], "where": {"contry": "NL"}} | 'country'?
get_stats {"hostname": "H", "fields": ["pages"], "where": "NL"} | where is an object
get_stats {"hostname": "H", "metadata": {"a": {"b": 1}}} | metadata(a=…): give one
get_stats {"hostname": "H", "metadata": {"a": {"b": 1}}} | by a call for each
get_stats {"hostname": "H", "start": "2026-03-05", "end": "2026-03-01"} | start and end:
get_stats {"hostname": "H", "events": ["*", "a"]} | ["*"] alone
get_stats {"hostname": "no.example", "fields": ["pages"]} | list_websites has
get_stats {"hostname": "no.example", "during": "last-week"} | list_websites
compare_periods {"hostname": "H", "fields": ["visitors"]} | or use last …
compare_periods {"hostname": "H", "fields": ["visitors"], "last": 7, "against": "x"} | x
get_statistics {} | did you mean 'get_stats'?
save_report {"hostname": "H"} | use one of list_websites
"""
"""A tool, its arguments, and what the text for the model has."""


@pytest.mark.parametrize("line", MISTAKES.strip().splitlines())
def test_a_wrong_call_says_what_to_ask_instead(tools: Tools, line: str) -> None:
    """The text for the model names the argument and what to write, and no step of a
    query, which a model can't call.
    """
    call, advice = line.replace('"H"', f'"{HOST}"').split(" | ")
    name, arguments = call.split(" ", 1)
    with pytest.raises(WrongCallError) as raised:
        tools.call(name, json.loads(arguments))
    assert advice in str(raised.value)
    assert ".(" not in str(raised.value)
    assert ".extra_param" not in str(raised.value)


def test_words_of_a_period_are_of_the_websites_zone(tools: Tools) -> None:
    """A month by its word is that of the website's own time zone, unless the call has
    a zone; so is the month before, in a comparison.
    """
    question: dict[str, Any] = {"hostname": HOST, "fields": ["visitors"]}
    zone = "Asia/Tokyo"
    there = answer(tools, "get_stats", **question, during="last-month", timezone=zone)
    assert there["timezone"] == zone
    question["hostname"] = HOST.upper()
    got = answer(tools, "get_stats", **question, during="last-month")
    assert got["timezone"] == "UTC"
    assert got["first_day"].endswith("-01")
    compared = answer(tools, "compare_periods", **question, during="last-month")
    assert compared["last_day"] == got["last_day"]
    assert "visitors_before" in compared


def test_lists_as_assistants_write_them(tools: Tools) -> None:
    """Names in one text, or as JSON in a text, are the same as a list; null is the same
    as an argument that is left out.
    """
    question: dict[str, Any] = {"hostname": HOST, "last": 3, "during": None}
    forms = (["visitors", "pages"], "visitors, pages", '["visitors", "pages"]')
    answers = [answer(tools, "get_stats", **question, fields=form) for form in forms]
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]["pages"]) == 20


def test_an_answer_fits_into_a_context() -> None:
    """Lists that are longer than the limit are cut, and the answer says by how much; an
    answer that is still too large is a text that says what to ask instead.
    """
    service = Emulator()
    for number in range(230):
        service.add_website(f"n{number}.example")
    tools = Tools(service.client(read_only=True))
    listed = answer(tools, "list_websites")
    assert len(listed["websites"]) == 200
    assert listed["left_out"].startswith("30 more websites")
    assert len(answer(tools, "list_websites", contains="n22")["websites"]) == 11
    question: dict[str, Any] = {"hostname": "n1.example", "fields": ["histogram"]}
    with pytest.raises(WrongCallError, match="wider interval"):
        tools.call("get_stats", {**question, "last": 700})
    months = tools.call("get_stats", {**question, "last": 700, "interval": "month"})
    assert len(months) < LARGEST_ANSWER


def test_events_beyond_the_limit_are_counted(service: Emulator, tools: Tools) -> None:
    """All events are cut at the limit, and the answer says how many it leaves out."""
    got = answer(tools, "get_stats", hostname=HOST, events=["*"], last=7, limit=1)
    assert len(got["events"]) == 1
    assert got["left_out"] == {"events": 1}


def test_what_the_library_warns_of_is_in_the_answer(tools: Tools) -> None:
    """A filter that is probably a mistake is named beside the numbers; so is an
    argument without effect, by its name.
    """
    totals: dict[str, Any] = {"hostname": HOST, "fields": ["visitors"]}
    got = answer(tools, "get_stats", **totals, where={"page": "blog"})
    (warning,) = got["warnings"]
    assert "every path starts with '/'" in warning
    got = answer(tools, "get_stats", **totals, limit=5)
    assert got["warnings"][0].startswith("limit 5 has no effect on visitors")


def test_what_nobody_asked_for_causes_no_warning(tools: Tools) -> None:
    """A call for totals without a limit has an answer without a warning."""
    for name in ("get_stats", "compare_periods"):
        asked = {"hostname": HOST, "fields": ["pageviews", "visitors"], "last": 7}
        assert "warnings" not in answer(tools, name, **asked)


@pytest.mark.parametrize("day", ["today", "yesterday"])
def test_a_day_by_its_word(tools: Tools, day: str) -> None:
    """During takes the words for a day, as other words for a period."""
    asked: dict[str, Any] = {"hostname": HOST, "fields": ["pageviews"]}
    got = answer(tools, "get_stats", **asked, during=day)
    assert got == answer(tools, "get_stats", **asked, start=day, end=day)
    assert got["first_day"] == got["last_day"]


def test_a_report_is_saved_where_the_user_wants_reports(
    service: Emulator, tmp_path: Path
) -> None:
    """A report is a new workbook in the folder of the user, with all entries; no report
    replaces another one.
    """
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("xlsxwriter")
    tools = Tools(service.client(read_only=True), tmp_path)
    question: dict[str, Any] = {"hostname": HOST, "fields": ["pages"], "last": 7}
    first = answer(tools, "save_report", **question)
    second = answer(tools, "save_report", **question, against="previous-week")
    paths = [Path(first["saved"]), Path(second["saved"])]
    assert [*sorted(tmp_path.iterdir())] == sorted(paths)
    days = f"{first['first_day']} to {first['last_day']}"
    assert paths[0].name == f"{HOST} {days}.xlsx"
    book = openpyxl.load_workbook(paths[0])
    assert book["pages"].max_row > 21
    assert not Tools(service.client()).all.keys() & {"save_report"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=4,
)
NAMES = sorted(Tools(Emulator().client()).all["compare_periods"].schema["properties"])


@given(st.dictionaries(st.sampled_from(NAMES), JSON, max_size=4))
@example({"fields": [[]]})
def test_no_call_ends_otherwise(arguments: dict[str, Any]) -> None:
    """Whatever a model sends as an argument, it gets an answer or a text."""
    service = Emulator()
    service.add_website(HOST)
    tools = Tools(service.client(read_only=True))
    usual: dict[str, Any] = {"hostname": HOST, "fields": ["visitors"], "last": 2}
    for name in ("list_websites", "get_stats", "compare_periods"):
        with suppress(WrongCallError):
            json.loads(tools.call(name, {**usual, **arguments}))
