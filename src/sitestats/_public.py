"""What public modules and public classes do: late imports, and errors that help."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from functools import cache, partial, wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from sitestats._words import (
    EXTRA,
    MISSING,
    argument_advice,
    module_advice,
    name_advice,
)

_VERB = re.compile("(set|add|with|get|use|remove)_")
"""The beginning of a name of another library, such as ``set_limit``."""

_LONGEST = 60
"""The most characters of a name in a message."""

KindT = TypeVar("KindT", bound=type)


class Public:
    """A class of results or settings, whose errors name the attributes that it has."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """For pydantic and FastAPI: a value with ``from_dict`` has its own schema, and
        what else becomes JSON is an instance.
        """
        if hasattr(cls, "from_dict"):
            from sitestats._reading.shapes import schema_of

            return schema_of(source, handler)
        to_json = getattr(cls, "to_dict", dict if issubclass(cls, Mapping) else None)
        if to_json is None:
            return handler(source)
        from pydantic_core import core_schema as schema

        serialization = schema.plain_serializer_function_ser_schema(
            to_json, return_schema=schema.dict_schema()
        )
        return schema.is_instance_schema(cls, serialization=serialization)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            if hasattr(kind := type(self), name):
                # Its own error, such as that of a field that was not requested.
                object.__getattribute__(self, name)
            raise missing(kind, name)


def missing(kind: type, item: object) -> AttributeError:
    """The error about a name that instances of *kind* do not have, or about an item."""
    if not isinstance(item, str):
        message = f"{kind.__name__} has no items: read a value by its name"
        return AttributeError(message)
    # An item may be any text of a user's.
    name = item[:_LONGEST]
    has = f"it has {names_of(kind)}"
    if advice := _advice(name, partial(name_advice, kind), _public_names(kind), "."):
        end = "" if advice.endswith("?") else "."
        message = f"{kind.__name__} has no {name!r}: {advice}{end} Otherwise, {has}"
    else:
        message = f"{kind.__name__} has no {name!r}: {has}"
    # Of an error with an object, Python suggests its private names, too.
    return AttributeError(message, name=name, obj=None)


def _advice(
    name: str, advice_for: Callable[[str], str], known: Iterable[str], dot: str = ""
) -> str:
    """What to type for a *name* that does not exist."""
    # A name with an underscore is not a word of a user's: libraries look for theirs.
    if name.startswith("_"):
        return ""
    names = [*known]
    for word in (name, _VERB.sub("", name)):
        if advice := advice_for(word):
            return advice
        # A name that is but a little like it would lead astray.
        if close := get_close_matches(word[:100], names, n=1, cutoff=0.75):
            return f"did you mean {dot}{close[0]}?"
    return ""


@cache
def _public_names(kind: type) -> tuple[str, ...]:
    """The names of methods and of data, also of data that instances alone have."""
    own = (vars(base).get("__annotations__", {}) for base in kind.__mro__)
    fields = (field.name for field in getattr(kind, "__attrs_attrs__", ()))
    names = {*dir(kind), *fields, *(name for names in own for name in names)}
    return tuple(sorted(name for name in names if not name.startswith("_")))


@cache
def names_of(kind: type) -> str:
    """The public names of a class, for an error about another name."""
    return ", ".join(
        f".{name}()" if callable(getattr(kind, name, None)) else f".{name}"
        for name in _public_names(kind)
    )


# --- the arguments of calls -----------------------------------------------------------


def explained(*methods: str) -> Callable[[KindT], KindT]:
    """Have errors about the arguments of these *methods* say what to type; without a
    name, of all public ones.
    """

    def decorate(kind: KindT) -> KindT:
        own = (name for name, value in vars(kind).items() if inspect.isfunction(value))
        for name in methods or [n for n in own if n == "__init__" or n[0] != "_"]:
            setattr(kind, name, _explained(vars(kind)[name]))
        return kind

    return decorate


def _explained(method: Any) -> Any:
    @wraps(method)
    def call(self: Any, /, *given: Any, **named: Any) -> Any:
        try:
            return method(self, *given, **named)
        except TypeError as error:
            if not _is_of_call(error):
                raise
        wrong = wrong_arguments(self.__class__, method.__name__, given, named)
        # A key may be among them, and no frame has that in a variable.
        del given, named
        raise wrong

    if not inspect.iscoroutinefunction(method):
        return call

    @wraps(method)
    async def awaited(self: Any, /, *given: Any, **named: Any) -> Any:
        try:
            awaitable = call(self, *given, **named)
        finally:
            del given, named
        return await awaitable

    return awaited


def _is_of_call(error: TypeError) -> bool:
    """Whether a call was refused, and no line of the called function ran."""
    return error.__traceback__ is not None and error.__traceback__.tb_next is None


def wrong_arguments(
    kind: type, method: str, given: tuple[Any, ...], named: Mapping[str, Any]
) -> TypeError:
    """The error about arguments that a method does not take."""
    parameters = inspect.signature(getattr(kind, method)).parameters.values()
    takes = [
        parameter.name
        for parameter in parameters
        if parameter.name != "self"
        and parameter.kind not in {parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD}
    ]
    unknown = [name for name in named if name not in takes]
    wrong = MISSING
    if given:
        wrong = EXTRA
    if unknown:
        wrong = unknown[0]
    advice = argument_advice(kind.__name__, method, wrong)
    call = kind.__name__ if method == "__init__" else f"{kind.__name__}.{method}"
    what = f"no argument {wrong!r}" if unknown else "other arguments"
    message = f"{call}() takes {what}: {advice or 'it takes ' + ', '.join(takes)}"
    return TypeError(message)


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
            advice = _advice(name, module_advice, places)
            end = f": {advice}" if advice else ""
            message = f"module {module!r} has no attribute {name!r}{end}"
            raise AttributeError(message, name=name)
        defining = import_module(places[name])
        value = known[name] = getattr(defining, name, defining)
        return value

    return sorted(places), get, lambda: sorted({*known, *places})


def late_types(
    names: Mapping[str, tuple[str, ...]], **others: tuple[str, str]
) -> Callable[[str], object]:
    """``__getattr__`` of a module of types that annotations name.

    Whoever reads an annotation, such as ``typing.get_type_hints``, imports its types.
    The type of an extra that is not installed is ``Any``.

    Args:
        names: The names of types, by the module that defines them.
        others: The module and the name of each type that annotations call otherwise.
    """
    places = {name: (place, name) for place, own in names.items() for name in own}
    places |= others

    def get(name: str) -> object:
        if name not in places:
            raise AttributeError(name)
        module, defined = places[name]
        try:
            return getattr(import_module(module), defined)
        except ImportError:
            return Any

    return get
