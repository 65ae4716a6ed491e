"""Lists as people and their programs make them: read right, or refused with what to do
at which place.
"""

from __future__ import annotations

import pytest

from provisioning.inside import load
from sitestats import InvalidInputError, WebsiteSpec

SHOP = WebsiteSpec("shop.example", "Europe/Amsterdam", public=True, label="Shop, old")
BLOG = WebsiteSpec("blog.example")
READ: dict[str, str] = {
    "the separator in the first line": (
        "sep=;\r\nhostname;timezone;public;label\r\n"
        "shop.example;Europe/Amsterdam;WAHR;Shop, old\r\nblog.example;;;\r\n"
    ),
    "that line with quotes, and a comment": (
        '"SEP=,"\n# ours\nhostname,timezone,public,label\n'
        'shop.example,Europe/Amsterdam,TRUE,"Shop, old"\nblog.example\n'
    ),
    "a tab in that line": (
        "sep=\t\nhostname\ttimezone\tpublic\tlabel\n"
        "shop.example\tEurope/Amsterdam\t1\tShop, old\nblog.example\n"
    ),
    "commas in the header": (
        '"Host-Name";"Time zone";"public";"label"\n'
        'shop.example;Europe/Amsterdam;VRAI;"Shop, old"\nblog.example;;;\n'
    ),
    "lines between the cells": (
        "hostname | timezone         | public | label\n"
        "shop.example | Europe/Amsterdam | oui | Shop, old\nblog.example | | |\n"
    ),
    "blanks and marks around names": (
        "hostname;timezone;public;label\n"
        "\u200bshop.example\xa0; Europe/Amsterdam\xa0;\xa0VERO ;\xa0Shop, old \n"
        "blog.example\ufeff;\xa0; ;\xa0\n"
    ),
    "rows of separators at the end": (
        "hostname,timezone,public,label\n"
        'shop.example,Europe/Amsterdam,ja,"Shop, old"\nblog.example,,,\n,,,\n,,,\n'
    ),
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_a_habit_is_read_without_a_word(text: str) -> None:
    """What certainly means one list is that list."""
    assert load(text) == ((SHOP, BLOG), [])


def test_names_of_columns_may_have_separators_and_line_ends() -> None:
    """A quoted header is read as a whole, with the separator of its file."""
    columns = {"hostname": "Domain, or subdomain", "label": "our\nname; if any"}
    text = '"our\nname; if any";"Domain, or subdomain"\nShop;shop.example\n'
    specs, notes = load(text, columns=columns)
    assert (specs, notes) == ((WebsiteSpec("shop.example", label="Shop"),), [])


TOLD: dict[str, tuple[str, str]] = {
    "a title": (
        "Our websites, 2026;\n\n;;\nhostname;label\nshop.example;Shop\n",
        "list:1: what is above the header is left out: 'Our websites, 2026'",
    ),
    "an index, as pandas writes it": (
        ",hostname,label\n0,shop.example,Shop\n1,,\n",
        "list: the first column numbers the rows, and is left out",
    ),
}


@pytest.mark.parametrize(("text", "note"), TOLD.values(), ids=TOLD)
def test_what_is_left_out_is_told(text: str, note: str) -> None:
    """A title above the header, and a column that numbers the rows."""
    assert load(text) == ((WebsiteSpec("shop.example", label="Shop"),), [note])


REFUSED: dict[str, tuple[str | bytes, str, str]] = {
    "no header": (
        "# ours\nshop.example,UTC,Shop\nblog.example,,\n",
        "list:2",
        "the columns have no names: add a first row, such as hostname, timezone",
    ),
    "no header, names last": (
        "Shop\tshop.example\nBlog\tblog.example\n",
        "list:1",
        "have no names",
    ),
    "websites above the header": (
        "a.example;UTC\nhostname;timezone\nb.example;UTC\n",
        "list:1",
        "above the one that names the columns: move it below",
    ),
    "an index of texts": (
        ",hostname\nx,shop.example\n",
        "list:2",
        "no column has a name for 'x'",
    ),
    "a sum": (
        "hostname;\nshop.example;\n;1\n",
        "list:3",
        "no column has a name for '1'",
    ),
    "an error of a spreadsheet": (
        "hostname,label\na.example,#N/A\n",
        "list:2",
        "'#N/A' stands for no value: leave it out",
    ),
    "a value that pandas misses": (
        "hostname,label\na.example,nan\n",
        "list:2",
        "'nan' stands for no value",
    ),
    "a column that was too narrow": (
        "hostname,label\na.example,####\n",
        "list:2",
        "'####' stands for no value",
    ),
    "letters that a tool could not read": (
        "hostname,label\na.example,Caf\ufffd\n",
        "list:2",
        "letters of 'Caf\ufffd' were lost",
    ),
    "UTF-16": ("hostname\n".encode("utf-16"), "list", "UTF-16, such as Unicode Text: "),
    "UTF-16 without a mark": (
        "hostname".encode("utf-16-le"),
        "list",
        "save it as UTF-8",
    ),
    "an old workbook": (b"\xd0\xcf\x11\xe0\xa1", "list", "(.xls), or has a password: "),
    "HTML that is called .xls": ("\n<html><table>", "list", "is HTML or XML"),
    "JSON lines": (
        '{"hostname": "a.example"}\n{"hostname": "b.example"}\n',
        "list",
        "put all objects into one list, in [ and ]",
    ),
    "compressed": (b"\x1f\x8b\x08", "list", "compressed: unpack it"),
}


@pytest.mark.parametrize(("data", "place", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_certain_is_refused(
    data: str | bytes, place: str, words: str
) -> None:
    """One error has the place, and what to do."""
    with pytest.raises(InvalidInputError) as caught:
        load(data)
    (problem,) = caught.value.problems
    assert problem.where == place
    assert words in problem.message


def test_numbers_that_repeat_do_not_number_the_rows() -> None:
    """They may be anything: each is a value whose column has no name."""
    with pytest.raises(InvalidInputError) as caught:
        load(",hostname\n7,a.example\n7,b.example\n")
    assert [one.where for one in caught.value.problems] == ["list:2", "list:3"]


def test_a_title_above_a_header_of_other_names_is_no_header() -> None:
    """The error names the columns of the header, not the title."""
    with pytest.raises(InvalidInputError) as caught:
        load("Our websites\n\nDomain,label\na.example,x\n")
    first, second = (problem.message for problem in caught.value.problems)
    assert first.startswith("there is no column 'hostname'")
    assert second.startswith("'Domain' is not a field of a website")


YES = """
    YES 1 true WAHR ja waar VRAI oui SÍ EVET ИСТИНА Истина VERDADEIRO ІСТИНА ΣΩΣΤΟ IGAZ
    PRAWDA PATIESS 真 DOĞRU Tõene
"""
NO = """
    no 0 false Falsch nein ONWAAR faux NÃO hayir ЛОЖЬ ложь FALSO ХИБНІСТЬ ΛΑΘΟΣ HAMIS
    FAŁSZ APLAMS 假 YANLIŞ Väär
"""


def test_truth_values_are_read_in_the_languages_of_spreadsheets() -> None:
    """As Excel and LibreOffice write them, in capitals or not."""
    for words, flag in ((YES, True), (NO, False)):
        for word in words.split():
            (spec,), _ = load(f"hostname;public\na.example;{word}\n")
            assert spec.public is flag
