"""What public modules and public classes do: late imports, and errors that help."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn


class Public:
    """A class of results or settings, whose errors name the attributes that it has."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if hasattr(kind := type(self), name):
                # Its own error, such as that of a field that was not requested.
                object.__getattribute__(self, name)
            raise AttributeError(
                f"{kind.__name__} has no {name!r}: it has {names_of(kind)}",
                name=name,
                obj=self,
            )


@cache
def names_of(kind: type) -> str:
    """The public names of a class, for an error about another name."""
    return ", ".join(
        f".{name}()" if callable(getattr(kind, name)) else f".{name}"
        for name in dir(kind)
        if not name.startswith("_")
    )


def lazy(
    module: str, names: Mapping[str, tuple[str, ...]]
) -> tuple[list[str], Callable[[str], object], Callable[[], list[str]]]:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a *module* that imports late.

    Args:
        module: The name of the module.
        names: Its names, by the module that defines them. A name that this module
            does not define is a module itself.
    """
    places = {name: place for place, defined in names.items() for name in defined}
    known = vars(sys.modules[module])

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        defining = import_module(places[name])
        value = known[name] = getattr(defining, name, defining)
        return value

    return sorted(places), get, lambda: sorted({*known, *places})


def late_types(places: Mapping[str, tuple[str, str]]) -> Callable[[str], object]:
    """``__getattr__`` of a module of types that annotations name.

    Whoever reads an annotation, such as ``typing.get_type_hints``, imports its types.
    The type of an extra that is not installed is ``Any``.

    Args:
        places: The module and the name of each type, by the name in annotations.
    """

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(name)
        module, defined = places[name]
        try:
            return getattr(import_module(module), defined)
        except ImportError:
            return Any

    return get
