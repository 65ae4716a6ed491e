"""Lists of host names: lines, CSV, JSON and TOML."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import SiteStatsWarning, SpecError
from sitestats.provisioning import read_host_list
from sitestats.provisioning._host_lists import parse_host_list

pytestmark = pytest.mark.standard_library


HOSTS = ["a.example", "b.example"]

LISTS = {
    "lines": b"a.example\nb.example",
    "mixed line ends": b"\na.example\rb.example\r\n",
    "comments": b"# ours\n\n  a.example  # the shop\n\t# not this\nb.example\n",
    "byte order mark": b"\xef\xbb\xbfa.example\nb.example\n",
    "csv": b"hostname,public\na.example,true\nb.example,false\n",
    "one column": b"Hostname\na.example\nb.example\n",
    "semicolons": b"name;hostname\nx;a.example\n;\n\ny;b.example;;\n",
    "quotes": b'# saved\n"hostname","label"\n"a.example","x,\ny"\n"b.example"\n',
    "tabs": b"id\thostname\n1\ta.example\n2\tb.example",
    "json of websites": json.dumps(
        [{"hostname": host, "pageviews": 3} for host in HOSTS]
    ).encode(),
    "json of texts": b' ["a.example", "b.example"]',
    "json of specifications": json.dumps(
        {"websites": [{"hostname": host} for host in HOSTS]}
    ).encode(),
}


@pytest.mark.parametrize("data", LISTS.values(), ids=LISTS)
def test_a_list_has_host_names(data: bytes) -> None:
    """Each form of a list gives the same host names, in its order."""
    assert [host.text for host in parse_host_list(data, "hosts.txt")] == HOSTS


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("a.example\r\nb.example\r\n".encode("utf-16"), "x.txt: it is in UTF-16"),
        (b"# na\xefve\na.example\nb.example", "was read as cp1252"),
    ],
    ids=["PowerShell's", "cp1252"],
)
def test_an_encoding_that_was_guessed_is_a_warning(data: bytes, words: str) -> None:
    """A list of another encoding is read, and a warning names that."""
    with pytest.warns(SiteStatsWarning, match=words):
        assert [host.text for host in parse_host_list(data, "x.txt")] == HOSTS


def test_a_list_is_a_path_or_an_open_file(tmp_path: Path) -> None:
    """A list is read by its path, as text or not, and from an open file; errors have
    the name of either.
    """
    path = tmp_path / "hosts.txt"
    path.write_text("\n".join(HOSTS), "utf-8")
    with path.open("rb") as file, path.open() as text:
        for source in (path, str(path), file):
            hosts = read_host_list(source)
            assert [host.text for host in hosts] == HOSTS
            assert hosts[1].where == f"{path}:2"
        with pytest.raises(SpecError, match="binary mode"):
            read_host_list(text)


def test_toml_is_known_by_its_name() -> None:
    """The TOML of specifications is a list of host names too."""
    data = b'[[websites]]\nhostname = "a.example"\n[[websites]]\nhostname="b.example"'
    assert [host.text for host in parse_host_list(data, "x.TOML")] == HOSTS


def test_each_host_name_has_its_place() -> None:
    """An error of a host name can name its line."""
    lines = parse_host_list(b"# x\r\na.example\r\n\r\nb.example", "hosts.txt")
    assert [host.where for host in lines] == ["hosts.txt:2", "hosts.txt:4"]
    cells = parse_host_list(b'a,hostname\n"x\ny",a.example\nz,b.example', "hosts.csv")
    assert [host.where for host in cells] == ["hosts.csv:2", "hosts.csv:4"]


WRONG = {
    "empty.txt": b"",
    "comments.txt": b"# nothing\n\n",
    "header.csv": b"hostname,public\n",
    "damaged.txt": b"a.example\n\xc3\xa9.example\n\xe9.example",
    "workbook.xlsx": b"PK\x03\x04",
    "nul.txt": b"a.example\n\0",
    "utf-16.txt": b"\xff\xfea",
    "broken.csv": b'hostname\na.example\n"b.example\n',
    "broken.json": b'[\n"a.example"\n}',
    "long.json": b"[" + b"9" * 5000 + b"]",
    "deep.json": b"[" * 100_000,
    "number.json": b'["a.example", {"hostname": 3}]',
    "object.json": b'{"hosts": 3}',
    "empty.json": b"[]",
    "none.toml": b"a = 3",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_list_that_is_wrong(name: str, same_text: SameText) -> None:
    """Each mistake is an error that names the file, and the line where there is one."""
    with pytest.raises(SpecError) as caught:
        parse_host_list(WRONG[name], name)
    same_text(caught.value)
    assert {problem.rule for problem in caught.value.problems} == {"host-list"}


@given(
    st.binary(max_size=200)
    | st.text("ab.,;\t\"'#\r\n\0{}[]:", max_size=80).map(str.encode)
)
def test_whatever_is_in_a_file_is_a_list_or_an_error(data: bytes) -> None:
    """No content of a file is another exception than a SpecError."""
    for name in ("hosts.txt", "hosts.toml"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SiteStatsWarning)
                hosts = parse_host_list(data, name)
        except SpecError:
            continue
        assert hosts
        assert all(isinstance(host.text, str) for host in hosts)


def test_a_long_list_and_a_long_row() -> None:
    """Many rows of forty columns and a row of 1 MiB are read."""
    rows = [f"{n}{',x' * 39},h{n}.example" for n in range(1_000)]
    rows[7] = f'"{"y" * 2**20}"{",x" * 39},h7.example'
    header = ",".join([*(f"c{n}" for n in range(40)), "hostname"])
    hosts = parse_host_list("\n".join([header, *rows]).encode(), "hosts.csv")
    assert [host.text for host in hosts] == [f"h{n}.example" for n in range(1_000)]
    assert hosts[-1].where == "hosts.csv:1001"
