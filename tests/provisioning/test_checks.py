"""Fields and rows of a list: names, repeated rows, and what contradicts itself."""

from __future__ import annotations

from typing import Any

import pytest

from same_text import SameText
from sitestats import SpecError, WebsiteSpec
from sitestats.provisioning._specs import as_specs
from website_lists import load

pytestmark = pytest.mark.standard_library


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("a\nx.example", {"columns": {"hostname": "Domain"}}, "no column 'Domain'"),
        ("a\nx.example", {"columns": {"host": "a"}}, "did you mean 'hostname'"),
        ("a\nx.example", {"columns": {"hostname": "a", "label": "a"}}, "two fields"),
        (
            "a,hostname\nx.example,y.example",
            {"columns": {"hostname": "a"}},
            "'a' and 'hostname' are both the hostname",
        ),
        ("hostname\na.example", {"input_format": "xlsx"}, "is one of toml, json, csv"),
        (
            '[{"a": "x.example", "hostname": "y.example"}]',
            {"columns": {"hostname": "a"}, "input_format": "json"},
            "hostname is given twice",
        ),
        ("a\nx.example", {"columns": {"x": "a"}}, "'x' is not a field of a website: "),
    ],
    ids=[
        *("missing", "misspelt", "two fields", "two columns", "format", "two keys"),
        "no field",
    ],
)
def test_names_that_do_not_fit(
    text: str, options: dict[str, Any], words: str, same_text: SameText
) -> None:
    """A name that the file does not have, or that is ambiguous, is an error."""
    with pytest.raises(SpecError, match=words) as caught:
        load(text, **options)
    same_text(caught.value)
    assert {problem.rule for problem in caught.value.problems} <= {
        "website-file",
        "website-columns",
    }


def test_a_column_that_is_named_is_the_only_one() -> None:
    """The column that was named is read, and with ignore_columns no other one."""
    text = "hostname;Domain\nold.example;new.example\n"
    specs, notes = load(text, columns={"hostname": "Domain"}, ignore_columns=True)
    assert specs == (WebsiteSpec("new.example"),)
    assert notes == ["list: ignored columns: 'hostname'"]


def test_an_ignored_name_that_is_nearly_a_field_is_asked_about() -> None:
    """A misspelt field is not ignored without a word: websites can't be changed."""
    _, notes = load("hostname,timezne\na.example,Asia/Tokyo\n", ignore_columns=True)
    assert notes == ["list: ignored columns: 'timezne' (did you mean 'timezone'?)"]


YES = "yes YES 1 true True WAHR ja waar VRAI oui verdadero vero"
NO = "no 0 false Falsch nein ONWAAR nee faux non falso"


def test_yes_and_no_are_read() -> None:
    """Yes and no are read in any case, and as spreadsheets write them."""
    words = [*YES.split(), *NO.split()]
    rows = [f"w{number}.example,{word}" for number, word in enumerate(words)]
    specs, _ = load("\n".join(["hostname,public", *rows]))
    read = {word: spec.public for word, spec in zip(words, specs, strict=True)}
    assert read == {word: word in YES.split() for word in words}


def test_a_row_that_is_repeated_counts_once(same_text: SameText) -> None:
    """Equal rows are merged with a note that has both places; the first one stays."""
    rows = ["hostname,public,label", "a.example,,x", "b.example,no,"]
    rows += ["A.Example.,0,x", *["b.example,,"] * 7]
    specs, (note,) = load("\n".join(rows))
    assert specs == (WebsiteSpec("a.example", label="x"), WebsiteSpec("b.example"))
    same_text(note)
    assert "count once (8 times)" in note
    assert "a.example (list:4:1 and list:2:1)" in note
    assert note.endswith("and 3 more")


def test_rows_that_differ_in_one_value_are_refused() -> None:
    """Whatever it is in which two rows differ, none of them is chosen."""
    rows = [
        "hostname,timezone,public,label",
        "a.example,,,",
        "b.example,,,",
        "c.example",
    ]
    rows += ["a.example,Asia/Tokyo,,", "b.example,,yes,", "c.example,,,x"]
    with pytest.raises(SpecError) as caught:
        load("\n".join(rows))
    found = [problem.message.partition(" (")[2] for problem in caught.value.problems]
    assert [text.partition(")")[0] for text in found] == [
        "timezone is 'Asia/Tokyo' here and 'UTC' there",
        "public is true here and false there",
        "label is 'x' here and left out there",
    ]
    assert {problem.rule for problem in caught.value.problems} == {"website-once"}


def test_every_wrong_value_is_reported(same_text: SameText) -> None:
    """The error has every problem of a specification, not only the first."""
    with pytest.raises(SpecError) as caught:
        WebsiteSpec("", timezone="", public=None, label=b"")  # type: ignore[arg-type]  # that is the point
    same_text(caught.value)
    places = [problem.where for problem in caught.value.problems]
    assert places == ["hostname", "timezone", "public", "label"]


def test_a_website_given_twice_is_refused(same_text: SameText) -> None:
    """Host names that differ in case or a trailing dot are refused as duplicates."""
    names = ["a.example", "b.example", "A.Example", "b.example."]
    with pytest.raises(SpecError) as caught:
        as_specs(map(WebsiteSpec, names))
    same_text(caught.value)
    assert [problem.where for problem in caught.value.problems] == [
        "specs[2]",
        "specs[3]",
    ]
    assert "specs[0]" in caught.value.problems[0].message
    assert {problem.rule for problem in caught.value.problems} == {"website-once"}
