"""Lists as people and spreadsheets write them: names, encodings, repeated rows."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from same_text import SameText
from sitestats import SiteStatsWarning, SpecError, WebsiteSpec
from sitestats._common.text import as_cell_text
from sitestats._common.zones import zone_names
from sitestats.emulator import Emulator
from sitestats.provisioning._checks import FORMATS
from sitestats.provisioning._csv import without_text_mark

EXPORT = (
    "Kunde;Domain;Öffentlich\r\nMüller & Söhne;müller.example;WAHR\r\n;b.example;\r\n"
)
DOMAIN = {"hostname": "Domain", "public": "Öffentlich"}


def load(data: bytes | str, input_format: Any = "csv", **options: Any) -> Any:
    """The specifications of a file with this in it, and its notes."""
    stream = io.BytesIO(data if isinstance(data, bytes) else data.encode())
    stream.name = "list"  # type: ignore[attr-defined]  # as an opened file has it
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        specs = WebsiteSpec.load(stream, input_format=input_format, **options)
    assert all(warning.category is SiteStatsWarning for warning in caught)
    return specs, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("utf-8", ""),
        ("utf-8-sig", ""),
        ("utf-16", "it is in UTF-16"),
        ("cp1252", "was read as cp1252"),
    ],
)
def test_the_export_of_a_spreadsheet_is_read(
    encoding: str, words: str, same_text: SameText
) -> None:
    """A German export has other names, words, separators and encodings, and a note
    names an encoding that is not UTF-8.
    """
    specs, notes = load(EXPORT.encode(encoding), columns=DOMAIN, ignore_columns=True)
    assert specs == (
        WebsiteSpec("müller.example", public=True),
        WebsiteSpec("b.example"),
    )
    assert specs[0].written == "müller.example"
    assert notes[-1] == "list: ignored columns: 'Kunde'"
    assert len(notes) == (2 if words else 1)
    assert words in notes[0]
    same_text("\n".join(notes))


@pytest.mark.parametrize(
    ("data", "where", "words"),
    [
        # An é of cp1252 beside one of UTF-8: either reading is wrong somewhere.
        (b"hostname,label\na.example,\xc3\xa9\xe9\n", "2:12", "0xe9"),
        # Not even cp1252 has this.
        (b"hostname,label\na.example,\x81\n", "2:11", "0x81"),
        ("hostname\na.example".encode("utf-16-le"), "1:2", "NUL"),
        (b"hostname\na.example\n\0", "3:1", "NUL"),
        ("hostname\nä.example".encode("utf-16") + b"\x00", "2:10", "as UTF-16"),
        (b"PK\x03\x04\x14\x00", "1:1", "save the sheet as CSV"),
    ],
    ids=["two encodings", "no encoding", "no mark", "a NUL", "cut off", "a workbook"],
)
def test_what_is_no_text_is_refused(
    data: bytes, where: str, words: str, same_text: SameText
) -> None:
    """Bytes whose encoding can't be told are refused at the first one that is wrong."""
    with pytest.raises(SpecError, match=words) as caught:
        load(data)
    assert caught.value.problems[0].where == f"list:{where}"
    same_text(caught.value)


def test_only_a_spreadsheet_s_encoding_is_guessed() -> None:
    """TOML and JSON are in UTF-8 by definition, so another encoding is an error."""
    text = '[{"hostname": "a.example", "label": "é"}]'
    with pytest.raises(SpecError, match="0xe9"):
        load(text.encode("cp1252"), "json")
    assert load(text.encode("utf-16"), "json")[0] == (
        WebsiteSpec("a.example", label="é"),
    )


@pytest.mark.parametrize(
    ("input_format", "text"),
    [
        ("csv", "Domain\tpublic\tKunde\na.example\tyes\tx\n"),
        ("json", '[{"Domain": "a.example", "public": true, "Kunde": "x"}]'),
        ("toml", "[[websites]]\nDomain = 'a.example'\npublic = true\nKunde = 'x'"),
    ],
)
def test_names_are_given_in_every_format(input_format: str, text: str) -> None:
    """Other names, and names to ignore, are given for JSON and TOML too."""
    specs, notes = load(
        text, input_format, columns={"hostname": "Domain"}, ignore_columns=True
    )
    assert specs == (WebsiteSpec("a.example", public=True),)
    assert notes == ["list: ignored columns: 'Kunde'"]
    with pytest.raises(SpecError, match="'Kunde' is not a"):
        load(text, input_format, columns={"hostname": "Domain"})
    with pytest.raises(SpecError, match="'Domain' is not a"):
        load(text, input_format)


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


def test_empty_columns_at_the_end_are_no_columns() -> None:
    """Separators that a spreadsheet writes up to its widest row are left out."""
    specs, notes = load("hostname;label;;\na.example;x;;\nb.example;;;;;\n")
    assert [spec.hostname for spec in specs] == ["a.example", "b.example"]
    assert notes == []
    with pytest.raises(SpecError, match="4 cells, and the first line names 2"):
        load("hostname;label;;\na.example;x;;y\n")


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


def test_thousands_of_wrong_rows_are_a_few_lines() -> None:
    """Errors of a long list are grouped in the exception, too.

    To find a zone that somebody may have meant takes milliseconds, so not every row
    gets one: fifty thousand would take minutes.
    """
    rows = (f"w{n:04}.example,Europe/Amsterdam{n:04}" for n in range(2_000))
    with pytest.raises(SpecError) as caught:
        load("\n".join(["hostname,timezone", *rows]))
    messages = [problem.message for problem in caught.value.problems]
    assert len(messages) == 2_000
    assert sum("did you mean" in message for message in messages) == 50
    *lines, last = str(caught.value).splitlines()
    assert len(lines) == 5
    assert last == "… and 1,995 more errors like this one, up to list:2001:15"


WIDE = ",".join(["hostname", *(f"column {n}" for n in range(39))])


@pytest.mark.parametrize(
    ("text", "options", "outcome"),
    [
        (
            "\n".join([WIDE, *(f"w{n}.example" + ",x" * 39 for n in range(1_000))]),
            {"ignore_columns": True},
            1_000,
        ),
        ("hostname,label\na.example," + "x" * 2**20, {}, 1),
        ("hostname\n" + "x" * 2**20, {}, "longer than a host name can be"),
        ("hostname\na.example" + "," * 2**16, {}, 1),
        ("hostname\na.example" + ",x" * 2**16, {}, "65537 cells"),
        ("hostname" + ",hostname" * 20_000, {}, "is given twice"),
        ("hostname,label\na.example," + '"' * (2**20 + 1), {}, "never closed"),
        ("hostname\ra.example\r\nb.example\nc.example", {}, 3),
        ("hostname\n" + "a.example\n" * 5_000, {}, 1),
    ],
    ids=[
        *("columns", "label", "host name", "separators", "cells", "names", "quotes"),
        *("line ends", "repeated"),
    ],
)
def test_what_is_long_or_odd_is_read_or_refused(
    text: str, options: dict[str, Any], outcome: int | str
) -> None:
    """Long rows, many columns and mixed ends of lines are read, or a short error."""
    if isinstance(outcome, int):
        specs, _ = load(text, **options)
        assert len(specs) == outcome
        return
    with pytest.raises(SpecError, match=outcome) as caught:
        load(text, **options)
    assert len(str(caught.value)) < 300


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


def test_a_saved_list_is_read_word_for_word() -> None:
    """The list of the service has marks of its own labels, and nothing is ignored."""
    columns = "hostname,is_public,timezone,has_ssl,has_script,own_hostname,label,"
    columns += "pageviews,events"
    row = "a.example,true,UTC,true,true,,'=x,1,2"
    wanted = (WebsiteSpec("a.example", public=True, label="'=x"),)
    assert load(f"{columns}\n{row}\n") == (wanted, [])
    values = dict(zip(columns.split(","), row.split(","), strict=True))
    listed = {**values, "is_public": True, "extra": {}}
    assert load(json.dumps([listed]), "json") == (wanted, [])
    assert load(json.dumps([listed]), "json", ignore_columns=True) == (wanted, [])


# --- written and read back ----------------------------------------------------------

labels = st.text(
    st.characters(codec="utf-8") | st.sampled_from("'=+-@,;\"\r\n\t\x00\x7f \ufeff"),
    max_size=8,
)


@given(labels)
@example("'x'")
@example("''=x;'-y;'z")
def test_a_text_that_is_marked_for_a_spreadsheet_is_read_back(text: str) -> None:
    """The mark that keeps a spreadsheet from running a text is left out again."""
    marked = as_cell_text(text)
    assert without_text_mark(marked) == text
    assert not any(
        part.lstrip(" ")[:1] in set("=+-@\uff1d\uff0b\uff0d\uff20") and part.strip(" ")
        for part in marked.split(";")
    )


@given(
    st.lists(
        st.builds(
            WebsiteSpec,
            st.sampled_from(["a.example", "müller.example", "B.example"]),
            st.sampled_from(sorted(zone_names())),
            public=st.booleans(),
            label=labels.filter(bool) | st.none(),
        ),
        max_size=4,
        unique_by=lambda spec: spec.hostname,
    ),
    st.sampled_from(["csv", "json", "toml"]),
)
def test_what_is_dumped_is_read_back(specs: list[WebsiteSpec], form: Any) -> None:
    """Specifications that were written are the same when they are read."""
    if form == "csv" and any("\0" in (spec.label or "") for spec in specs):
        with pytest.raises(SpecError, match="NUL"):
            WebsiteSpec.dumps(specs, form)
        return
    text = WebsiteSpec.dumps(specs, form)
    read, notes = load(text, form)
    assert (read, notes) == (tuple(specs), [])


@settings(max_examples=12)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["UTC", "Asia/Tokyo"]),
            st.booleans(),
            labels.filter(lambda label: "\0" not in label),
        ),
        max_size=4,
    ),
    st.sampled_from(["csv", "json", "toml"]),
)
def test_a_plan_of_what_is_there_has_nothing_to_do(
    websites: list[tuple[str, bool, str]], form: Any
) -> None:
    """The service's list, written as specifications, is what a plan wants."""
    emulator = Emulator()
    for number, (timezone, public, label) in enumerate(websites):
        emulator.add_website(
            f"w{number}.example", timezone=timezone, public=public, label=label
        )
    with emulator.client() as client:
        listed = [WebsiteSpec.of(website) for website in client.websites.list()]
        specs, notes = load(WebsiteSpec.dumps(listed, form), form)
        assert client.websites.plan(specs).complete
    assert len(specs) == len(websites)
    assert notes == []


def test_the_texts_that_are_dumped(same_text: SameText) -> None:
    """The three formats are as people would write them, one website a line or block."""
    specs = [
        WebsiteSpec("a.example", "Asia/Tokyo", public=True, label='=1,"ü"\x7fé;-\n'),
        WebsiteSpec("b.example", label=" x"),
        WebsiteSpec("c.example", label="a b"),
        WebsiteSpec("d.example", label="a;b"),
    ]
    for form in FORMATS:
        same_text(WebsiteSpec.dumps(specs, form))
        same_text(WebsiteSpec.dumps([], form))
        assert load(WebsiteSpec.dumps(specs, form), form)[0] == tuple(specs)


def test_what_can_t_be_dumped(same_text: SameText) -> None:
    """A label that CSV can't have, and an unknown format, are errors."""
    for label in ("", "a\0"):
        with pytest.raises(SpecError, match="write JSON or TOML") as caught:
            WebsiteSpec.dumps([WebsiteSpec("a.example", label=label)])
        same_text(caught.value)
    with pytest.raises(SpecError, match="toml, json, csv") as caught:
        WebsiteSpec.dumps([], "xlsx")  # type: ignore[arg-type]  # that is the point
    same_text(caught.value)


def test_a_file_that_is_open_for_text_is_refused(tmp_path: Path) -> None:
    """An open file gives bytes, as its encoding has to be found."""
    path = tmp_path / "a.csv"
    path.write_text("hostname\na.example\n")
    with path.open("rb") as file:
        assert WebsiteSpec.load(file) == (WebsiteSpec("a.example"),)
    with (
        path.open("r", encoding="utf-8") as text,
        pytest.raises(SpecError, match="binary mode"),
    ):
        WebsiteSpec.load(text)  # type: ignore[arg-type]  # that is the point
