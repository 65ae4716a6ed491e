"""The service's list, written and read again: each label is what it was."""

from __future__ import annotations

import io
import json
import tempfile
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from provisioning.inside import csv_line
from sitestats import WebsiteSpec
from sitestats.emulator import Emulator

LABELS = st.lists(
    st.text(
        st.characters(codec="utf-8")
        | st.sampled_from("'=+-@,;\"# \r\n\t\xa0\u200d\u200f_x"),
        min_size=1,
        max_size=12,
    ),
    min_size=1,
    max_size=8,
)


def written(websites: Any) -> dict[str, bytes]:
    """The list in each format, as `websites list` writes it."""
    rows = [website.to_dict() for website in websites]
    columns = websites[0].columns
    lines = [csv_line(columns)]
    lines += (csv_line([row.get(name) for name in columns]) for row in rows)
    workbook = io.BytesIO()
    websites.to_excel(workbook)
    return {
        "csv": "".join(lines).encode(),
        "json": json.dumps(rows).encode(),
        "xlsx": workbook.getvalue(),
    }


@settings(max_examples=6)  # each is sent to four emulators
@given(LABELS)
@example(["''=x", "a\rb", "_x000D_", " ", "\xa0", "# x", "\ud7ff", "a;-1", "\n=1"])
@example(["''=x;'-y;'z", "\n=x", "''tis", "_x005F_", "ü\r\n", "=x"])
def test_each_label_comes_back_as_it_was(labels: list[str]) -> None:
    """A plan of the list that was written has nothing to do, and ``ensure`` adds the
    same labels to another account.
    """
    ours = Emulator()
    for number, label in enumerate(labels):
        ours.add_website(f"w{number}.example", timezone="Asia/Tokyo", label=label)
    with ours.client() as client:
        listed = client.websites.list()
        assert client.websites.plan(map(WebsiteSpec.of, listed)).complete
        files = written(listed)
        for name, data in files.items():
            specs = WebsiteSpec.load(io.BytesIO(data))
            assert client.websites.plan(specs).complete, name
            theirs = Emulator()
            with (
                tempfile.TemporaryDirectory() as folder,
                theirs.client() as other,
            ):
                other.websites.ensure(specs, journal=f"{folder}/journal")
                assert [site.label for site in other.websites.list()] == labels, name
