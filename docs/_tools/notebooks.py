"""Run the notebooks, each in a fresh kernel: ``nox -s docs``; ``-- write`` stores it.

Each result of the package has to show what the file stores; the rest, such as the bytes
of a picture, may differ.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


def results(notebook: Any) -> list[str]:
    """What results of the package show, as HTML."""
    return [
        html
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if "class='sitestats'" in (html := output.get("data", {}).get("text/html", ""))
    ]


def main() -> None:
    """Run each notebook, and compare or write what it shows."""
    # The kernel's own way of drawing.
    os.environ.pop("MPLBACKEND", None)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook: Any = nbformat.read(path, as_version=4)
        before = results(notebook)
        NotebookClient(notebook, timeout=120, record_timing=False).execute()
        if sys.argv[1:] == ["write"]:
            for cell in notebook.cells:
                cell.metadata.clear()
            notebook.metadata["language_info"] = {"name": "python"}
            nbformat.write(notebook, path)
        elif not before or results(notebook) != before:
            sys.exit(f"{path.name} shows something else: nox -s docs -- write")
        print(path.name)


if __name__ == "__main__":
    main()
