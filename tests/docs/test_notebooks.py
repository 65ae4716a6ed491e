"""The notebooks are committed with the output of a run; ``nox -s docs`` runs them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_committed_as_it_ran(path: Path) -> None:
    """Every cell ran, in order, without an error, a warning, or a path of a machine."""
    text = path.read_text("utf-8")
    cells = [one for one in json.loads(text)["cells"] if one["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert outputs
    assert not any("error" in output["output_type"] for output in outputs)
    assert not any(output.get("name") == "stderr" for output in outputs)
    assert not re.search(r"/(?:home|root|tmp|Users)/|iopub|sa_api_key_\w", text)
