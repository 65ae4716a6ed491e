"""Names of columns: which field each stands for, and which are left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from same_text import SameText
from sitestats import SpecError, WebsiteSpec
from sitestats.provisioning._columns import SPEC_FIELDS, check_columns
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
        ("hostname\na.example", {"input_format": "ods"}, "is one of txt, csv, toml"),
        (
            '[{"a": "x.example", "hostname": "y.example"}]',
            {"columns": {"hostname": "a"}, "input_format": "json"},
            "'a' and 'hostname' are both the hostname",
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


@pytest.mark.parametrize(
    ("header", "fields"),
    [
        ("hostname,Timezone,PUBLIC", ("hostname", "timezone", "public")),
        ("Host-Name;Time Zone;Läbel:", ("hostname", "timezone", "label")),
        ("label\tHOST_NAME", ("label", "hostname")),
    ],
)
def test_names_match_without_case_and_marks(
    header: str, fields: tuple[str, ...]
) -> None:
    """A column is not left out because of a capital, a blank or a dash in its name."""
    separator = next(mark for mark in ";\t," if mark in header)
    columns = check_columns(None, ignore=True)
    assert columns.named(header.split(separator)).fields == fields
    row = separator.join(
        {"hostname": "a.example", "timezone": "Asia/Tokyo", "public": "yes"}.get(f, "x")
        for f in fields
    )
    ((spec,), notes) = load(f"{header}\n{row}\n", ignore_columns=True)
    assert (spec.timezone == "Asia/Tokyo") is ("timezone" in fields)
    assert (spec.public is True) is ("public" in fields)
    assert notes == []


@pytest.mark.parametrize("name", ["Zeitzone", "timezne", "zone", "is_public", "lable"])
def test_a_name_that_resembles_a_field_is_not_left_out(
    name: str, same_text: SameText
) -> None:
    """With ignore_columns such a column is an error until it is mapped or named, since
    a website that was added with a default can't be changed.
    """
    text = f"hostname,{name},Kunde\na.example,,y\n"
    with pytest.raises(SpecError, match=rf"'{name}' is not .*did you mean") as caught:
        load(text, ignore_columns=True)
    same_text(caught.value)
    assert len(caught.value.problems) == 1
    for given_names in (name.upper(), [name]):
        specs, notes = load(text, ignore_columns=True, ignore_column=given_names)
        assert (len(specs), notes) == (1, ["list: ignored columns: 'Kunde'"])
    assert load(text, columns={"label": name}, ignore_columns=True)[0] == specs
    keys = f'[{{"hostname": "a.example", "{name}": null}}]'
    with pytest.raises(SpecError, match="did you mean"):
        load(keys, "json", ignore_columns=True)


def test_a_name_is_left_out_where_its_field_is_there() -> None:
    """What resembles a field that another column stands for hides nothing."""
    text = "hostname,own_hostname\na.example,b.example\n"
    specs, notes = load(text, ignore_columns=True)
    assert specs == (WebsiteSpec("a.example"),)
    assert notes == ["list: ignored columns: 'own_hostname'"]


marked = st.text("hostnamepublic -_ÄéX:", max_size=12)


@given(names=st.lists(marked | st.sampled_from(SPEC_FIELDS), max_size=6), ignore=...)
def test_each_name_has_one_fate(*, names: list[str], ignore: bool) -> None:
    """A name stands for a field that no other name has, is wrong, or is left out."""
    columns = check_columns({"label": "ÄÄ"}, ignore=ignore, left_out=["X"])
    named = columns.named(names)
    fields = [field for field in named.fields if field is not None]
    assert len(fields) == len(set(fields))
    assert ignore or not named.ignored
    for index, (name, field) in enumerate(zip(names, named.fields, strict=True)):
        fates = [field is not None, index in named.wrong, name in named.ignored]
        assert fates.count(True) == 1 or name in {"", "X"} or not name.strip(" -_:")
