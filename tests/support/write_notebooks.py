"""Run the notebooks and write their output into them: ``nox -s notebooks -- write``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[2] / "examples" / "notebooks"


def main() -> None:
    """Write each notebook anew, without what differs between runs."""
    os.environ.pop("MPLBACKEND", None)
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook: Any = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=120, record_timing=False).execute()
        for cell in notebook.cells:
            cell.metadata.clear()
        notebook.metadata["language_info"] = {"name": "python"}
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
