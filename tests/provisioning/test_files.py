"""Loading specifications from files: what is read, and where errors point."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import WebsiteSpec
from sitestats._common.errors import SpecError
from sitestats._common.zones import zone_names

pytestmark = pytest.mark.standard_library


GOOD = {
    "websites.toml": """
        # Two of them.
        [[websites]]
        hostname = "Shop.example"
        timezone = "Europe/Amsterdam"
        public = true
        label = "a, \\"b\\""

        [[websites]]
        hostname = "blog.example"
    """,
    "inline.toml": """
        websites = [
    {public=true,timezone="Europe/Amsterdam",label='a, "b"',hostname='shop.example'},
          { hostname = "blog.example" },
        ]
    """,
    "list.json": """
        [{"hostname": "shop.example", "timezone": "Europe/Amsterdam", "public": true,
          "label": "a, \\"b\\""}, {"hostname": "blog.example", "label": null}]
    """,
    "object.JSON": """
        {"websites": [{"hostname": "shop.example", "timezone": "Europe/Amsterdam",
          "public": true, "label": "a, \\"b\\""}, {"hostname": "blog.example"}]}
    """,
    "commas.csv": (
        "hostname,timezone,public,label\n"
        'shop.example,Europe/Amsterdam,TRUE,"a, ""b"""\n'
        "blog.example\n"
    ),
    "semicolons.csv": (
        "label;public;hostname;timezone\r\n"
        '"a, ""b""";true;shop.example;Europe/Amsterdam\r\n'
        ";;blog.example;\r\n"
    ),
}


@pytest.mark.parametrize(("name", "text"), GOOD.items(), ids=GOOD)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte order mark"])
def test_each_kind_of_file_is_read(
    tmp_path: Path, name: str, text: str, mark: str
) -> None:
    """TOML, JSON and CSV give the same specifications, in the file's order."""
    path = tmp_path / name
    path.write_bytes((mark + text).encode())
    assert WebsiteSpec.load(path) == (
        WebsiteSpec("shop.example", "Europe/Amsterdam", public=True, label='a, "b"'),
        WebsiteSpec("blog.example"),
    )
    assert WebsiteSpec.load(str(path)) == WebsiteSpec.load(path)


def test_flags_of_a_spreadsheet_are_read(tmp_path: Path) -> None:
    """Spreadsheets write TRUE and FALSE, and people what they like."""
    path = tmp_path / "a.csv"
    path.write_text("hostname,public\na.example,TRUE\nb.example,False\nc.example,\n")
    assert [spec.public for spec in WebsiteSpec.load(path)] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.toml", "websites = []"), ("a.json", "[]"), ("a.csv", "hostname\n")],
)
def test_a_file_may_name_no_website(tmp_path: Path, name: str, text: str) -> None:
    """A file without websites is valid."""
    path = tmp_path / name
    path.write_text(text)
    assert WebsiteSpec.load(path) == ()


def test_the_documentation_s_files_are_the_same_list(tmp_path: Path) -> None:
    """The three files in the documentation can be read, and are equal."""
    text = (Path(__file__).parents[2] / "docs" / "provisioning.md").read_text("utf-8")
    lists: list[tuple[WebsiteSpec, ...]] = []
    for language, ending in (("toml", "toml"), ("json", "json"), ("text", "csv")):
        (shown,) = re.findall(
            rf"^```{language}\n(.+?)^```", text, re.MULTILINE | re.DOTALL
        )
        path = tmp_path / f"websites.{ending}"
        path.write_text(shown)
        lists.append(WebsiteSpec.load(path))
    assert (
        lists
        == [
            (
                WebsiteSpec("shop.example", "Europe/Amsterdam", label="shop"),
                WebsiteSpec("blog.example", public=True),
            )
        ]
        * 3
    )


BAD: dict[str, tuple[str, str, list[tuple[str, str]]]] = {
    "TOML syntax": ("a.toml", "a = 1\nb = ]", [("2:5", "TOML: Invalid value")]),
    "TOML end": ("a.toml", "a = '", [("1:6", "not valid TOML")]),
    "JSON syntax": ("a.json", '[\n {"a" 1}]', [("2:7", "not valid JSON")]),
    "JSON empty": ("a.json", "", [("1:1", "not valid JSON")]),
    "JSON huge number": (
        "a.json",
        f'["{"9" * 5000}",\n -{"9" * 5000}]',
        [("2:3", "a number has more than 4,300 digits")],
    ),
    "TOML huge number": (
        "a.toml",
        f"# {'9' * 5000}\nlabel = '{'9' * 5000}'\npublic = {'9_9' * 2500}",
        [("3:10", "a number has more than 4,300 digits")],
    ),
    "TOML huge hexadecimal number": (
        "a.toml",
        f"[[websites]]\nhostname = 0x{'f' * 5000}",
        [("2:12", "of type int")],
    ),
    "deep": ("a.json", "[" * 100_000, [("1:1", "nested too deeply")]),
    "deep and valid": (
        "a.json",
        '[{"hostname": ' + "[" * 900 + "]" * 900 + "}]",
        [("1:1", "nested too deeply")],
    ),
    "CSV quote": ("a.csv", 'hostname\na.example\n"b', [("3:1", "never closed")]),
    "CSV empty": ("a.csv", "", [("1:1", "first line names the columns")]),
    "CSV of empty lines": ("a.csv", "\n\n", [("1:1", "first line names the columns")]),
    "a list with a column of its own": (
        "a.csv",
        (
            "hostname,is_public,timezone,has_ssl,has_script,own_hostname,label,"
            "pageviews,events,public\na.example,true,UTC,true,true,,,1,2,true"
        ),
        [
            ("1:10", "'is_public' is not a column"),
            ("1:29", "'has_ssl' is not a column"),
            ("1:37", "'has_script' is not a column"),
            ("1:48", "'own_hostname' is not a column"),
            ("1:67", "'pageviews' is not a column"),
            ("1:77", "'events' is not a column"),
        ],
    ),
    "a column like no other": ("a.csv", "hostname,x\na.example,y", [
        ("1:10", "hostname, timezone, public, label"),
    ]),
    "a key like no other": ("a.json", '{"websites": [], "x": 1}', [
        ("1:18", "'websites' only"),
    ]),
    "a dotted key": ("a.toml", "\nx.y.z = 1\n[[websites]]\nhostname='a.example'", [
        ("1:1", "'websites' only"),
    ]),
    "no websites": ("a.toml", "", [("1:1", "[[websites]]")]),
    "other name": (
        "a.toml",
        "\n[[website]]\nhostname = 'a.example'\n[[websites]]\nhostname='b.example'",
        [("2:3", "did you mean 'websites'")],
    ),
    "a table": ("a.toml", "[websites]\nhostname='a.example'", [("1:1", "are a list")]),
    "a text": ("a.json", '{"websites": "a.example"}', [("1:14", "are a list")]),
    "a root": ("a.json", " 7", [("1:2", "are a list")]),
    "texts": (
        "a.json",
        '["a.example",\n  7]',
        [("1:2", "hostname in front"), ("2:3", "hostname in front")],
    ),
    "zone": (
        "a.toml",
        "[[websites]]\nhostname = 'a.example'\ntimezone  =  'europe/amsterdam'",
        [("3:14", "did you mean 'Europe/Amsterdam'?")],
    ),
    "host name": ("a.json", '[{"hostname":\n"http://a"}]', [("2:1", "scheme")]),
    "no host name": ("a.toml", "[[websites]]\n  [[websites]]", [
        ("1:1", "no hostname"),
        ("2:3", "no hostname"),
    ]),
    "misspelt": (
        "a.json",
        '[{"hostname": "a.example", "timezne": "UTC"}]',
        [("1:28", "did you mean 'timezone'")],
    ),
    "twice in an object": (
        "a.json",
        '[{"hostname": "a.example",\n"hostname": "b.example"}]',
        [("2:1", "given twice")],
    ),
    "public in words": (
        "a.csv",
        "hostname,public\na.example,maybe",
        [("2:11", "true or false")],
    ),
    "public as a number": (
        "a.toml",
        "websites = [{hostname = 'a.example', public = 1}]",
        [("1:47", "true or false")],
    ),
    "column": ("a.csv", "Hostname,lable\na,b", [
        ("1:1", "did you mean 'hostname'"),
        ("1:1", "no column 'hostname'"),
        ("1:10", "did you mean 'label'"),
    ]),
    "column twice": ("a.csv", "hostname,hostname\na,b", [("1:10", "given twice")]),
    "too many cells": (
        "a.csv",
        "hostname\na.example\nb.example,c",
        [("3:11", "2 cells, and the first line names 1")],
    ),
    "a line too short": ("a.csv", "timezone,label,hostname\nUTC,x", [
        ("2:1", "no hostname"),
    ]),
    "host name left out": ("a.csv", "hostname,label\n,x", [("2:1", "empty")]),
    "twice": (
        "a.csv",
        (
            "hostname,label\na.example,x\nA.Example.,y\nb.example\nb.example,\n"
            "c.example\nc.example,z"
        ),
        [("3:1", "a.example is given twice"), ("7:1", "c.example is given twice")],
    ),
    "everything, in order": (
        "a.toml",
        (
            "[[websites]]\nhostname = 'a'\n[[websites]]\nhostname = 'b.example'\n"
            "public = ''\n[[websites]]\nhostname = 'b.example'\nlabel = 'x'"
        ),
        [("2:12", "no dot"), ("5:10", "true or false"), ("7:12", "given twice")],
    ),
    "not ASCII before it": (
        "a.json",
        '[{"label": "\N{OCTOPUS}é", "hostname": ""}]',
        [("1:30", "empty")],
    ),
}  # fmt: skip


@pytest.fixture
def in_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are named as they are, without a folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "text", "expected"), BAD.values(), ids=BAD)
def test_an_error_has_its_location(
    in_tmp_path: None,
    name: str,
    text: str,
    expected: list[tuple[str, str]],
    same_text: SameText,
) -> None:
    """Every problem in a file has its file, line and column."""
    Path(name).write_text(text, encoding="utf-8", newline="")
    with pytest.raises(SpecError) as caught:
        WebsiteSpec.load(name)
    same_text(caught.value)
    found = [(problem.where, problem.message) for problem in caught.value.problems]
    assert [where for where, _ in found] == [f"{name}:{at}" for at, _ in expected]
    for (_, message), (_, words) in zip(found, expected, strict=True):
        assert words in message
        assert "\n" not in message
    rules = {problem.rule for problem in caught.value.problems}
    assert all(rule.startswith("website-") for rule in rules)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "mark"])
def test_another_encoding_is_refused_at_its_first_byte(
    tmp_path: Path, mark: bytes, same_text: SameText
) -> None:
    """A file that is not in UTF-8 is refused, with the location of the byte."""
    path = tmp_path / "a.csv"
    text = "hostname,label\né".encode() + "é".encode("latin-1") + b",b"
    path.write_bytes(mark + text)
    with pytest.raises(
        SpecError, match=r"a\.csv:2:2: the file is not in UTF-8"
    ) as caught:
        WebsiteSpec.load(path)
    same_text(caught.value)


@pytest.mark.parametrize("name", ["websites", "websites.yaml", ".toml"])
def test_another_kind_of_file_is_refused(
    tmp_path: Path, name: str, same_text: SameText
) -> None:
    """The error for an unknown extension names the ones that can be read."""
    with pytest.raises(SpecError, match=r"\.toml, \.json, \.csv") as caught:
        WebsiteSpec.load(tmp_path / name)
    assert caught.value.problems[0].rule == "website-file"
    same_text(caught.value)


def test_a_file_that_is_not_there_is_the_system_s_error(tmp_path: Path) -> None:
    """A missing file is a FileNotFoundError, as from open()."""
    with pytest.raises(FileNotFoundError):
        WebsiteSpec.load(tmp_path / "a.toml")


specs = st.builds(
    WebsiteSpec,
    st.from_regex(r"[a-z]{1,8}\.example", fullmatch=True),
    st.sampled_from(sorted(zone_names())),
    st.booleans(),
    st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
)


def as_toml(spec: WebsiteSpec) -> str:
    """*spec* as a TOML table."""
    label = "" if spec.label is None else f"label = {toml_text(spec.label)}\n"
    return (
        f"[[websites]]\nhostname = '{spec.hostname}'\ntimezone = '{spec.timezone}'\n"
        f"public = {str(spec.public).lower()}\n{label}"
    )


def toml_text(text: str) -> str:
    """*text* as a TOML string."""
    return '"' + "".join(f"\\U{ord(character):08x}" for character in text) + '"'


def as_object(spec: WebsiteSpec) -> dict[str, Any]:
    """*spec* as a JSON object."""
    return {
        name: getattr(spec, name)
        for name in ("hostname", "timezone", "public", "label")
    }


@given(st.lists(specs, unique_by=lambda spec: spec.hostname))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[WebsiteSpec]
) -> None:
    """Any specification can be written to a file and loaded unchanged."""
    folder = tmp_path_factory.mktemp("files")
    toml, js, table = (folder / f"w.{kind}" for kind in ("toml", "json", "csv"))
    toml.write_text("websites = []\n" if not wanted else "".join(map(as_toml, wanted)))
    js.write_text(json.dumps([as_object(spec) for spec in wanted], indent=1))
    with table.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, ["hostname", "timezone", "public", "label"])
        writer.writeheader()
        writer.writerows(as_object(spec) for spec in wanted)
    assert WebsiteSpec.load(toml) == WebsiteSpec.load(js) == tuple(wanted)
    for read, spec in zip(WebsiteSpec.load(table), wanted, strict=True):
        # A cell can't tell an empty label from none, and blanks around an
        # unquoted one are not part of it.
        assert read.hostname == spec.hostname
        assert (read.label or "").strip(" ") == (spec.label or "").strip(" ")
