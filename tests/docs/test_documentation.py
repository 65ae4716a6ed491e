"""The reference names every public name, and every example is run."""

from __future__ import annotations

import builtins
import inspect
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

import sitestats
import sitestats.analysis
import sitestats.conformance
import sitestats.emulator
import sitestats.provisioning
from sitestats import StatsQuery

pytestmark = pytest.mark.once


# Not in every environment, and the reference has its names.
sitestats_warehouse = pytest.importorskip("sitestats.warehouse", exc_type=ImportError)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
CODE: Final = re.compile(r"^`{3,}(?:python|\{doctest\})", re.MULTILINE)
PUBLIC: Final = (
    sitestats,
    sitestats.analysis,
    sitestats.conformance,
    sitestats.emulator,
    sitestats.provisioning,
    sitestats_warehouse,
)


def text_of(path: Path) -> str:
    """The content of the file."""
    return path.read_text("utf-8")


def named(page: Path) -> str:
    """The page's name, as pytest writes it."""
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def examples(request: pytest.FixtureRequest) -> Counter[str]:
    """How many examples pytest finds in each file."""
    if request.config.args == request.config.getini("testpaths"):
        found = "\n".join(item.nodeid for item in request.session.items)
    else:
        # This run may be without the examples.
        command = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
        found = subprocess.run(
            [*command, "README.md", "docs", "src"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    return Counter(re.findall(r"^(\S+)::line:\d+", found, re.MULTILINE))


def test_examples_are_found(examples: Counter[str]) -> None:
    """No page loses its examples unnoticed by a mistake in the setup."""
    assert examples["README.md"] >= 1
    pages = [n for name, n in examples.items() if name.startswith("docs/")]
    assert sum(pages) >= 60
    modules = [n for name, n in examples.items() if name.startswith("src/")]
    assert sum(modules) >= 120


def test_every_page_with_code_is_run(examples: Counter[str]) -> None:
    """No page of the documentation shows Python that is not run."""
    with_code = [page for page in PAGES if CODE.search(text_of(page))]
    assert len(with_code) >= 5
    assert [page.name for page in with_code if not examples[named(page)]] == []


def explained() -> list[str]:
    """Every name that the reference explains."""
    pages = [page for page in PAGES if "reference" in named(page)]
    assert len(pages) >= 5
    return [
        name
        for page in pages
        for name in re.findall(r":: (sitestats[\w.]*)$", text_of(page), re.MULTILINE)
    ]


def public_names() -> set[str]:
    """Everything that users import, with the module that they import it from."""
    return {f"{module.__name__}.{name}" for module in PUBLIC for name in module.__all__}


def test_each_public_name_has_one_place() -> None:
    """No name is exported by two modules, of which a user would have to choose."""
    places = Counter(name for module in PUBLIC for name in module.__all__)
    assert places.most_common(1)[0][1] == 1, places.most_common(5)


def test_the_reference_explains_what_is_public() -> None:
    """The reference lists every public name once, and no other."""
    public = public_names()
    assert len(public) >= 60
    assert Counter(explained()) == Counter(public)


def test_each_public_name_is_found_by_its_task() -> None:
    """The table of tasks names each public name once, except the errors."""
    table = text_of(DOCS / "reference.md").partition("## By task")[2]
    told = re.findall(r"~sitestats\.(?:\w+\.)?(\w+)`", table)
    names = {name for module in PUBLIC for name in module.__all__}
    errors = {name for name in names if name.endswith(("Error", "Warning"))}
    assert sorted(told) == sorted({*names - errors, "with_options"})


def test_the_tree_of_errors_has_them_all() -> None:
    """The page on errors lists each error below its base class."""
    rows = re.findall(
        r"^\| (·\s)?`(\w+)` \|", text_of(DOCS / "errors.md"), re.MULTILINE
    )
    errors = {
        name: value
        for name in sitestats.__all__
        if isinstance(value := getattr(sitestats, name), type)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
    }
    parent = sitestats.SiteStatsError
    for below, name in rows:
        error = errors.pop(name)
        kind = parent if below else sitestats.SiteStatsError
        assert error.__bases__[0] is kind
        parent = parent if below else error
    assert set(errors) == {"SiteStatsError"}


@pytest.fixture
def names() -> Iterator[dict[str, object]]:
    """The names that a text may use: the public names, and a few values."""
    with sitestats.Client("https://stats.example.org", api_key=None) as client:
        yield {
            **{name: getattr(m, name) for m in PUBLIC for name in m.__all__},
            "client": client,
            "query": StatsQuery("example.com"),
            "sitestats": sitestats,
            "stats": sitestats.Stats,
        }


def is_there(name: str, names: dict[str, object]) -> bool:
    """Whether *name* is one of *names*, an attribute, an argument or an extra."""
    first, *rest = name.split(".")
    if first in names:
        value: object = names[first]
        for attribute in rest:
            value = getattr(value, attribute, None)
        return value is not None
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    return not rest and (
        first in inspect.signature(sitestats.Client).parameters
        or first in inspect.signature(sitestats.Statistics.get_many).parameters
        or first in project["optional-dependencies"]
        or hasattr(builtins, first)
    )


def test_the_changelog_names_what_is_there(names: dict[str, object]) -> None:
    """Every name in the newest entry of the changelog exists."""
    changelog = text_of(ROOT / "CHANGELOG.md")
    _, newest, *_ = re.split(r"^## ", changelog, flags=re.MULTILINE)
    named = re.findall(r"`([A-Za-z_][\w.]*)`", newest)
    assert len(named) >= 10
    assert [name for name in named if not is_there(name, names)] == []


def test_texts_name_no_class_that_is_not_there(names: dict[str, object]) -> None:
    """Pages for users name only public errors and classes."""
    found = {
        (named(page), name)
        for page in (*PAGES, ROOT / "README.md", ROOT / "CHANGELOG.md")
        if page.stem not in {"architecture", "contributing"}
        for name in re.findall(r"`([A-Z][a-z]+[A-Z]\w+)(?:\(.*?\))?`", text_of(page))
    }
    assert len(found) >= 30
    found -= {
        ("docs/logging.md", "AsyncOpenTelemetryTransport"),
        # Within the package; the page says so.
        ("docs/reliability.md", "CorruptError"),
    }
    assert {(page, name) for page, name in found if not is_there(name, names)} == set()


def test_every_example_is_in_the_list() -> None:
    """The list of examples has every program and notebook, and no other."""
    folder = ROOT / "examples"
    programs = [*folder.glob("*.py"), *folder.glob("*/*.ipynb")]
    assert len(programs) >= 10
    listed = re.findall(
        r"^\| \[`(\S+)`\]\(./\1\) \|", text_of(folder / "README.md"), re.MULTILINE
    )
    assert sorted(listed) == sorted(p.relative_to(folder).as_posix() for p in programs)


def test_every_session_is_documented() -> None:
    """The table of nox sessions in CONTRIBUTING.md is complete."""
    sessions = re.findall(
        r"^@nox.session.*\ndef (\w+)", text_of(ROOT / "noxfile.py"), re.MULTILINE
    )
    assert len(sessions) >= 10
    table = text_of(ROOT / "CONTRIBUTING.md")
    row = r"^\| `nox -s (\w+)(?:-3\.\d+|(?<=hosted) -- colab|(?<=mutants) -- \S+)?` \|"
    named = re.findall(row, table, re.MULTILINE)
    assert sorted(named) == sorted(sessions)
