"""What programs read of the public names: annotations, modules, lists of names."""

from __future__ import annotations

import ast
import inspect
import pickle
import sys
import traceback
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, Final

import attrs
import cattrs
import pytest

import sitestats
import sitestats.emulator
import sitestats.provisioning
import sitestats.types
from sitestats import Entries, StatsQuery
from sitestats.emulator import Emulator

MODULES: Final = (
    "sitestats",
    "sitestats.types",
    "sitestats.emulator",
    "sitestats.provisioning",
    "sitestats.analysis",
)


def names_of(module: ModuleType) -> list[str]:
    """The public names of a module."""
    return [name for name in dir(module) if "A" <= name[0] <= "Z"]


def public_classes() -> list[type[Any]]:
    """Every public class of the modules, once."""
    found: dict[type[Any], None] = {}
    for module in map(import_module, MODULES):
        for name in names_of(module):
            value = getattr(module, name)
            if inspect.isclass(value) and value.__module__.startswith("sitestats"):
                found[value] = None
    return list(found)


def annotated(kind: type[Any]) -> Iterator[object]:
    """A class, and the functions of its public attributes, inherited ones too."""
    yield kind
    if not attrs.has(kind):
        yield kind.__init__
    for name in dir(kind):
        if name.startswith("_"):
            continue
        value = inspect.getattr_static(kind, name)
        value = getattr(value, "__func__", value)
        if isinstance(value, property):
            value = value.fget
        value = getattr(value, "func", value)
        if isinstance(value, FunctionType):
            yield value


@pytest.mark.compat
@pytest.mark.parametrize("kind", public_classes(), ids=lambda kind: kind.__name__)
def test_annotations_can_be_read(kind: type[Any]) -> None:
    """``typing.get_type_hints`` and ``attrs.resolve_types`` know every name."""
    for thing in annotated(kind):
        typing.get_type_hints(thing)
    if attrs.has(kind):
        attrs.resolve_types(kind)


def test_the_type_of_a_missing_library_is_any(monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotations can be read without the extras, too."""
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    assert typing.get_type_hints(Entries.plot)["return"] is Any


def test_cattrs_makes_dicts_of_data_classes() -> None:
    """Settings, websites and problems of this package become plain values."""
    (website, *_) = Emulator.demo().client().websites.list()
    dumped = cattrs.unstructure(website)
    assert (dumped["hostname"], dumped["problems"]) == ("semicomplete.com", [])
    assert cattrs.unstructure(sitestats.RetryPolicy())["retries"] == 2
    spec = sitestats.WebsiteSpec("a.example")
    assert cattrs.unstructure(spec)["hostname"] == "a.example"
    with pytest.raises(sitestats.InvalidInputError) as caught:
        StatsQuery("a.example").limit(0)
    (problem,) = caught.value.problems
    assert cattrs.structure(cattrs.unstructure(problem), sitestats.Problem) == problem


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_there(name: str) -> None:
    """Each can be imported by the name that it has itself."""
    module = import_module(name)
    for each in getattr(module, "__all__", names_of(module)):
        value = getattr(module, each)
        is_module = name == "sitestats" and each in {"provisioning", "types"}
        assert isinstance(value, ModuleType) == is_module
        if isinstance(value, type):
            assert value.__name__ == each


@pytest.mark.parametrize("name", ["sitestats", "sitestats.emulator"])
def test_type_checkers_and_python_find_the_same_names(name: str) -> None:
    """A late import is in both lists: that of type checkers, and that of Python."""
    module = import_module(name)
    tree = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    imported = {
        alias.asname
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert imported == {*module.__all__}


def test_a_name_that_is_missing_is_an_error() -> None:
    """As with any module; and ``dir`` has the names that are imported late."""
    with pytest.raises(AttributeError, match="has no attribute 'Clients'"):
        _ = sitestats.Clients  # type: ignore[attr-defined]
    assert {*sitestats.__all__, "__version__"} <= {*dir(sitestats)}


def test_every_error_is_public() -> None:
    """A traceback names an error as you import it, and it pickles by that name."""
    found = [sitestats.SiteStatsError, sitestats.SiteStatsWarning]
    for error in found:
        found += [
            kind
            for kind in error.__subclasses__()
            if f"{kind.__module__}._".startswith("sitestats._")
        ]
    for error in {*found}:
        assert getattr(sitestats, error.__name__) is error
    with pytest.raises(sitestats.UsageError) as caught:
        next(Emulator.demo().client().stats.get_many([]))
    (line,) = traceback.format_exception_only(caught.value)
    assert line.startswith("sitestats.UsageError: get_many needs a block")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is sitestats.UsageError
