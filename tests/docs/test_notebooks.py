"""The notebooks run, and their committed output is the current one."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sitestats import Client, Store
from sitestats.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.long, pytest.mark.once]

ROOT = Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(ROOT.glob("*.ipynb"))
NAMES = [path.stem for path in NOTEBOOKS]
OF_A_PANEL = "a-year-of-forty-websites"
"""It is compared where it is run twice."""
EXPECTED = [
    "a-warehouse",
    "a-year-of-forty-websites",
    "campaigns-and-referrers",
    "first-look",
    "weekly-report",
]


def cells_of(path: Path) -> list[dict[str, Any]]:
    """The cells with code of the notebook at *path*."""
    notebook = json.loads(path.read_text("utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_all_of_them_are_there() -> None:
    """No notebook is removed unnoticed."""
    assert NAMES == EXPECTED


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_what_is_committed_ran_without_an_error(path: Path) -> None:
    """Every cell was run, in order, without an error or a warning."""
    cells = cells_of(path)
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {
        *("execute_result", "display_data", "stream"),
    }
    assert "stderr" not in {output.get("name") for output in outputs}
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any("sitestats" in html_of(cell) for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_notebook_is_fit_to_be_committed(path: Path) -> None:
    """A notebook names no path of a machine and no time of its run."""
    text = path.read_text("utf-8")
    assert not re.search(r"/(?:home|root|tmp|Users)/|iopub|sa_api_key_\w", text)
    lines = [line for cell in cells_of(path) for line in cell["source"]]
    assert max(len(line.rstrip()) for line in lines) <= 88


@pytest.fixture
def namespace() -> Iterator[dict[str, Any]]:
    """Where cells run; what they opened is closed, also where one of them fails."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    yield names
    plt.close("all")
    for value in names.values():
        if isinstance(value, Client):
            value.close()


@pytest.mark.parametrize("name", [name for name in NAMES if name != OF_A_PANEL])
def test_the_committed_output_is_todays(name: str, namespace: dict[str, Any]) -> None:
    """Run without a kernel, each result has the HTML that the file shows."""
    if name == "a-warehouse":
        pytest.importorskip("dlt")
    run_and_compare(name, namespace)


def run_and_compare(name: str, namespace: dict[str, Any]) -> None:
    """Run the cells of a notebook, and compare what they show with what it stores."""
    path = ROOT / f"{name}.ipynb"
    compared = 0
    for cell in cells_of(path):
        value = run("".join(cell["source"]), namespace)
        if type(value).__module__.startswith("sitestats."):
            assert value._repr_html_() == html_of(cell)
            compared += 1
    assert compared >= 1


def run(source: str, namespace: dict[str, Any]) -> Any:
    """Run a cell; the value is that of its last line, where it has one."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), namespace)
    if last is None:
        return None
    assert isinstance(last, ast.Expr)
    value = ast.Expression(last.value)
    return eval(compile(value, "<cell>", "eval"), namespace)


def html_of(cell: dict[str, Any]) -> str:
    """What the cell shows as HTML, or nothing."""
    return "".join(
        line
        for output in cell["outputs"]
        for line in output.get("data", {}).get("text/html", ())
    )


# The plain sessions have no kernel: `nox -s notebooks` has, and can't skip.
with_a_kernel = pytest.mark.skipif(
    importlib.util.find_spec("nbclient") is None, reason="for nox -s notebooks"
)


@with_a_kernel
@pytest.mark.parametrize("path", NOTEBOOKS, ids=NAMES)
def test_a_kernel_runs_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh kernel runs the notebook from top to bottom, and draws its pictures."""
    import nbformat
    from nbclient import NotebookClient

    # The kernel's own way of drawing, whatever the tests' is.
    monkeypatch.delitem(os.environ, "MPLBACKEND", raising=False)
    notebook: Any = nbformat.read(path, as_version=4)
    before = [html_of(cell) for cell in notebook.cells if cell.cell_type == "code"]
    NotebookClient(notebook, timeout=120).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    ours = [number for number, html in enumerate(before) if "class='sitestats'" in html]
    assert ours
    assert all(html_of(cells[number]) == before[number] for number in ours)
    images = [
        output
        for cell in cells
        for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]
    assert len(images) >= 1


PROGRESS = """
from sitestats import StatsQuery
from sitestats.emulator import Emulator

client = Emulator.demo().client()
query = StatsQuery("semicomplete.com").fields("visitors").on("yesterday")
outcomes = client.stats.get_many([query] * 720, progress=True).collect()
"""


@with_a_kernel
def test_progress_leaves_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 720 queries the saved notebook has one output, with the last state."""
    import nbformat
    from nbclient import NotebookClient

    cell = nbformat.v4.new_code_cell(PROGRESS)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (output,) = notebook.cells[0].outputs
    assert output.output_type == "display_data"
    (text,) = output.data.values()
    assert text.startswith(f"[{'#' * 16}] 720 of 720 queries")


def test_a_notebook_that_is_run_again_requests_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, namespace: dict[str, Any]
) -> None:
    """With a store, the notebook of forty websites shows what it stores, and requests
    its statistics once: run again, it only lists the websites.
    """
    emulators: list[Emulator] = []
    make_client, make_emulator = Emulator.client, Emulator.made_up

    def client(emulator: Emulator) -> Client:
        emulators.append(emulator)
        # The notebook's day is fixed, and may be long ago.
        store = Store(tmp_path / "store", max_age=None)
        return make_client(emulator, store=store)

    def made_up(*args: Any, **options: Any) -> Emulator:
        # Otherwise the key is a new one, and what another key stored is not used.
        return make_emulator(*args, **options, api_key="sa_api_key_of_a_notebook")

    monkeypatch.setattr(Emulator, "client", client)
    monkeypatch.setattr(Emulator, "made_up", made_up)
    run_and_compare(OF_A_PANEL, namespace)
    again: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells_of(ROOT / f"{OF_A_PANEL}.ipynb"):
        source = "".join(cell["source"])
        # Drawing takes longest, and requests nothing.
        if "get_many" in source or "plot" not in source or "import" in source:
            run(source, again)
    first, second = ([r.path for r in emulator.requests] for emulator in emulators)
    assert len(first) > 500
    assert second == ["/api/websites"]
