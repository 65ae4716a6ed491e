"""Lists of websites in every format: what is read, and where errors point."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import SiteStatsWarning, SpecError, WebsiteSpec
from sitestats.provisioning import ListedHost, read_host_list

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
    "export": (
        "# of today\n\n"
        'Host Name,TIMEZONE,Public,label\nshop.example,Europe/Amsterdam,1,"a, ""b"""\n'
        "#old.example,UTC,,\nblog.example\n"
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


NAMES = {
    "hosts.txt": b"shop.example\nblog.example",
    "hosts": b"# ours\n\n  shop.example  # the shop\n\t# not this\nblog.example\n",
    "hosts.csv": b"\nshop.example\rblog.example\r\n",
    "mark.txt": b"\xef\xbb\xbfshop.example\nblog.example\n",
    "column.csv": b"Hostname\nshop.example\n\nblog.example\n",
    "quotes": b'# x\n"hostname","label"\n"shop.example","x,\ny"\n"blog.example"\n',
    "texts.json": b' ["shop.example", "blog.example"]',
    "texts.toml": b"websites = ['shop.example', 'blog.example']",
    "toml": b"# x\n[[websites]]\nhostname='shop.example'\n[[websites]]\n"
    b"hostname='blog.example'",
    "json": b'{"websites": [{"Hostname": "shop.example"}, "blog.example"]}',
}


@pytest.mark.parametrize("name", NAMES)
def test_names_alone_are_a_list(tmp_path: Path, name: str) -> None:
    """Both readers read names alone in every format, whatever the file is called."""
    path = tmp_path / name
    path.write_bytes(NAMES[name])
    wanted = ["shop.example", "blog.example"]
    assert [spec.hostname for spec in WebsiteSpec.load(path)] == wanted
    assert [host.text for host in read_host_list(path)] == wanted
    with path.open("rb") as file:
        assert [host.text for host in read_host_list(file)] == wanted


@pytest.mark.parametrize(
    "comment",
    ["#" * 100_000, "# " * 50_000, "#\n" * 50_000, "\t\n " * 30_000, " #\r\n" * 25_000],
)
def test_a_long_comment_is_read_at_once(tmp_path: Path, comment: str) -> None:
    """A line of ``#`` above the names keeps nobody waiting, nor do many of them."""
    path = tmp_path / "hosts"
    path.write_bytes(f"{comment}\nshop.example\n".encode())
    began = time.perf_counter()
    assert [spec.hostname for spec in WebsiteSpec.load(path)] == ["shop.example"]
    assert [host.text for host in read_host_list(path)] == ["shop.example"]
    assert time.perf_counter() - began < 5


def test_host_names_are_read_beside_anything(tmp_path: Path) -> None:
    """To query websites, a list's other columns are not looked at, and an address of a
    dashboard is a name; a column of another name is named as for specifications.
    """
    path = tmp_path / "list.csv"
    path.write_text("Zeitzone;Domain\nMars;https://s.example/a.example?page=/,b\n;\n")
    (host,) = read_host_list(path, columns={"hostname": "domain", "label": "x"})
    assert host == ListedHost("https://s.example/a.example?page=/,b", f"{path}:2:6")
    path.write_text("https://s.example/a.example?country=NL,DE\nb.example\n")
    assert [one.where for one in read_host_list(path)] == [f"{path}:1", f"{path}:2"]


def test_each_website_without_a_host_name_is_refused(tmp_path: Path) -> None:
    """To query websites, each needs a host name; the error says which have none."""
    path = tmp_path / "list.json"
    path.write_text('["a.example", {"label": "x"}, {"hostname": 7}]')
    with pytest.raises(SpecError) as caught:
        read_host_list(path)
    assert [*map(str, caught.value.problems)] == [
        f"{path}: websites[1]: this website has no hostname: add one",
        f"{path}: websites[2].hostname: a website's hostname is a text, not 7",
    ]


@pytest.mark.parametrize("name", ["a.toml", "a.json", "a.csv", "a.txt", "a"])
@pytest.mark.parametrize("text", ["", "\n\n", "hostname\n", "[]", "websites = []"])
def test_a_list_without_websites_is_refused(
    tmp_path: Path, name: str, text: str
) -> None:
    """An empty list is a mistake of whoever wrote it, in every format."""
    path = tmp_path / name
    path.write_text(text)
    for read in (WebsiteSpec.load, read_host_list):
        with pytest.raises(SpecError):
            read(path)
    if text in {"", "\n\n"} or name == "a":
        with pytest.raises(SpecError, match=r": there are no websites in it$"):
            WebsiteSpec.load(path)


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
    "TOML syntax": ("a.toml", "a = 1\nb = ]", [("", "(at line 2, column 5)")]),
    "JSON syntax": ("a.json", '[\n {"a" 1}]', [(":2:7", "not valid JSON")]),
    "JSON huge number": ("a.json", f'["{"9" * 5000}",\n -{"9" * 5000}]', [
        ("", "more than 4,300 digits"),
    ]),
    "TOML huge number": ("a.toml", f"public = {'9_9' * 2500}", [
        ("", "more than 4,300 digits"),
    ]),
    "deep": ("a.json", "[" * 100_000, [("", "nested too deeply")]),
    "deep and valid": ("a.json", '[{"hostname": ' + "[" * 900 + "]" * 900 + "}]", [
        (": websites[0].hostname", "of type list"),
    ]),
    "CSV quote": ("a.csv", 'hostname\na.example\n"b', [(":3:1", "never closed")]),
    "a list with a column of its own": (
        "a.csv",
        (
            "hostname,is_public,timezone,has_ssl,has_script,own_hostname,label,"
            "pageviews,events,public\na.example,true,UTC,true,true,,,1,2,true"
        ),
        [
            (":1:10", "'is_public' is not a field"),
            (":1:29", "'has_ssl' is not a field"),
            (":1:37", "'has_script' is not a field"),
            (":1:48", "'own_hostname' is not a field"),
            (":1:67", "'pageviews' is not a field"),
            (":1:77", "'events' is not a field"),
        ],
    ),
    "a column like no other": ("a.csv", "hostname,x\na.example,y", [
        (":1:10", "hostname, timezone, public, label"),
    ]),
    "no column": ("a.csv", "Domain\na.example", [
        (":1:1", "'Domain' is not a field"),
        (":1:1", "there is no column 'hostname'"),
    ]),
    "a key like no other": ("a.json", '{"websites": ["a.example"], "x": 1}', [
        ("", "'websites' only"),
    ]),
    "no websites": ("a.toml", "x.y = 1", [("", "[[websites]]")]),
    "other name": ("a.toml", "[[website]]\n[[websites]]\nhostname='b.example'", [
        ("", "did you mean 'websites'"),
    ]),
    "a table": ("a.toml", "[websites]\nhostname='a.example'", [("", "are a list")]),
    "a root": ("a.json", " 7", [("", "are a list")]),
    "numbers": ("a.json", '["a.example", 7]', [(": websites[1]", "not 7")]),
    "zone": (
        "a.toml",
        "[[websites]]\nhostname = 'a.example'\ntimezone  =  'europe/amsterdam'",
        [(": websites[0].timezone", "did you mean 'Europe/Amsterdam'?")],
    ),
    "host name": ("a.json", '[{"Hostname":\n"http://a"}]', [
        (": websites[0].Hostname", "scheme"),
    ]),
    "no host name": ("a.toml", "[[websites]]\n  [[websites]]", [
        (": websites[0]", "no hostname"),
        (": websites[1]", "no hostname"),
    ]),
    "misspelt": ("a.json", '[{"hostname": "a.example", "timezne": "UTC"}]', [
        (": websites[0].timezne", "did you mean 'timezone'"),
    ]),
    "twice in an object": (
        "a.json",
        '[{"hostname": "a.example",\n"hostname": "b.example"}]',
        [(": websites[0].hostname", "given twice")],
    ),
    "twice in the file": ("a.json", '{"websites": [], "websites": ["a.example"]}', [
        ("", "'websites' is given twice"),
    ]),
    "public in words": ("a.csv", "hostname,public\na.example,maybe", [
        (":2:11", "true or false"),
    ]),
    "public as a number": (
        "a.toml",
        "websites = [{hostname = 'a.example', public = 1}]",
        [(": websites[0].public", "true or false")],
    ),
    "column twice": ("a.csv", "hostname,hostname\na,b", [(":1:10", "given twice")]),
    "too many cells": ("a.csv", "hostname\na.example\nb.example,c", [
        (":3:11", "2 cells, and the first line names 1"),
    ]),
    "a line too short": ("a.csv", "timezone,label,hostname\nUTC,x", [
        (":2:1", "no hostname"),
    ]),
    "host name left out": ("a.csv", "hostname,label\n,x", [(":2:1", "empty")]),
    "no name in a line": ("a.txt", "a.example\nb example\n\nhttp://c.example", [
        (":2", "a space"),
        (":4", "scheme"),
    ]),
    "twice": (
        "a.csv",
        (
            "hostname,label\na.example,x\nA.Example.,y\nb.example\nb.example,\n"
            "c.example\nc.example,z"
        ),
        [(":3:1", "a.example is given twice"), (":7:1", "c.example is given twice")],
    ),
    "everything, in order": (
        "a.toml",
        (
            "[[websites]]\nhostname = 'a'\n[[websites]]\nhostname = 'b.example'\n"
            "public = ''\n[[websites]]\nhostname = 'b.example'\nlabel = 'x'"
        ),
        [
            (": websites[0].hostname", "no dot"),
            (": websites[1].public", "true or false"),
            (": websites[2].hostname", "given twice"),
        ],
    ),
    "a name, not ASCII before it": ("a.csv", "label,hostname\n\N{OCTOPUS}é,\n", [
        (":2:4", "empty"),
    ]),
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
    """Every problem has its place: line and column in CSV, the path in a tree."""
    Path(name).write_text(text, encoding="utf-8", newline="")
    with pytest.raises(SpecError) as caught:
        WebsiteSpec.load(name)
    same_text(caught.value)
    found = [(problem.where, problem.message) for problem in caught.value.problems]
    assert [where for where, _ in found] == [f"{name}{at}" for at, _ in expected]
    for (_, message), (_, words) in zip(found, expected, strict=True):
        assert words in message
        assert "\n" not in message
    rules = {problem.rule for problem in caught.value.problems}
    assert all(rule.startswith("website-") for rule in rules)


def test_yaml_is_converted_as_the_error_says(tmp_path: Path) -> None:
    """YAML is refused with a command that makes a list of it that is read."""
    path = tmp_path / "list.yaml"
    path.write_text("websites:\n- hostname: a.example\n  public: true\n- b.example\n")
    with pytest.raises(SpecError, match="YAML") as caught:
        WebsiteSpec.load(path)
    (problem,) = caught.value.problems
    _, _, command = problem.message.partition("with python3")
    shell = f"{shlex.quote(sys.executable)}{command}"
    subprocess.run(["sh", "-c", shell], cwd=tmp_path, check=True, timeout=60)
    assert WebsiteSpec.load(tmp_path / "list.json") == (
        WebsiteSpec("a.example", public=True),
        WebsiteSpec("b.example"),
    )


def test_a_file_that_is_open_for_text_is_refused(tmp_path: Path) -> None:
    """An open file gives bytes, as its encoding has to be found."""
    path = tmp_path / "a.csv"
    path.write_text("hostname\na.example\n")
    with (
        path.open("r", encoding="utf-8") as text,
        pytest.raises(SpecError, match="binary mode"),
    ):
        WebsiteSpec.load(text)  # type: ignore[arg-type]  # that is the point


@pytest.mark.skipif(
    not Path("/dev/zero").exists(), reason="the system has no such file"
)
def test_an_endless_file_is_refused() -> None:
    """A file that does not end is an error with its name, and takes no memory."""
    with pytest.raises(SpecError, match="/dev/zero: a list has no more than 64 MiB"):
        WebsiteSpec.load("/dev/zero")


def test_a_file_that_is_not_there_is_the_system_s_error(tmp_path: Path) -> None:
    """A missing file is a FileNotFoundError, as from open()."""
    with pytest.raises(FileNotFoundError):
        WebsiteSpec.load(tmp_path / "a.toml")


anything = st.binary(max_size=200) | st.text(
    "ab.,;\t\"'#\r\n\0{}[]: hostname=", max_size=80
).map(str.encode)


@given(anything, st.sampled_from([None, "txt", "csv", "toml", "json"]))
def test_whatever_is_in_a_file_is_a_list_or_an_error(data: bytes, form: Any) -> None:
    """No content of a file is another exception than a SpecError."""
    for read in (WebsiteSpec.load, read_host_list):
        with warnings.catch_warnings(), contextlib.suppress(SpecError):
            warnings.simplefilter("ignore", SiteStatsWarning)
            assert read(io.BytesIO(data), input_format=form)
