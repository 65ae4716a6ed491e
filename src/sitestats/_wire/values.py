"""Public values that become JSON, and are read again from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from sitestats._public import Public

from .messages import JsonValue


class JsonName(str):
    """A name in ``dict(value)``, with its value there."""

    __slots__ = ("value",)
    value: JsonValue


class Pickled:
    """What makes a value of its pickle; a class, as Streamlit hashes no function."""

    def __new__(cls, kind: type[Any], state: Any) -> Any:
        """Make the value of class *kind* that had this state."""
        value = object.__new__(kind)
        value.__setstate__(state)
        return value


class InJson(Public):
    """What becomes JSON, by which other libraries know it.

    FastAPI and pydantic use that JSON. ``dict`` makes it, too: FastAPI calls that for
    what is in a dict.
    """

    __slots__ = ()

    _worked_out: ClassVar[tuple[str, ...]] = ()
    """The properties that its JSON has beside its attributes."""

    def to_dict(self) -> dict[str, JsonValue]:
        """The values by their names, ready for JSON."""
        names = {**attributes_of(type(self)), **{n: n for n in self._worked_out}}
        return {name: for_json(getattr(self, names[name])) for name in names}

    def __reduce__(self) -> str | tuple[Any, ...]:
        # Tools that hash arguments, such as Streamlit, hash this.
        return Pickled, (type(self), self.__getstate__())

    if not TYPE_CHECKING:

        @property
        def __pydantic_serializer__(self) -> Any:
            """For pydantic, where a field may be anything: the JSON is the same."""
            return _serializer(type(self))

        def keys(self) -> Iterator[JsonName]:
            """The names of ``to_dict()``, for ``dict(value)``."""
            for text, value in self.to_dict().items():
                name = JsonName(text)
                name.value = value
                yield name

        def __getitem__(self, name: str) -> Any:
            """A value by its name, for ``dict(value)`` and for templates, which ask for
            an item where there is no attribute; Django asks for it first.

            Only an error that is neither an ``AttributeError`` nor a ``LookupError``
            stops both: others are an empty value for them.

            Raises:
                FieldNotRequestedError: The query did not request it, or there is no
                    such value.
            """
            from sitestats._base.errors import item_of

            return item_of(self, name)


class Value(InJson):
    """A value that becomes JSON, and is read again from it."""

    __slots__ = ()

    _is_typed: ClassVar[bool] = False
    """Whether people write its JSON: a name that it does not have is a mistake then."""

    @classmethod
    def from_dict(cls, values: Mapping[str, JsonValue]) -> Self:
        """Read what ``to_dict`` returned, also after it was JSON.

        Each value is checked, as JSON may come from anybody. What ``to_dict`` worked
        out is worked out again.

        Raises:
            InvalidInputError: A value is not as ``to_dict`` makes it; ``problems`` of
                the error has the JSON path of each.
        """
        from sitestats._reading.converting import read_again

        return cast("Self", read_again(values, cls))


@cache
def _serializer(kind: type[InJson]) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind).serializer


def attributes_of(kind: Any) -> dict[str, str]:
    """The attributes that make a value, by their names in its JSON."""
    return {
        field.alias: field.name
        for field in getattr(kind, "__attrs_attrs__", ())
        if field.init and field.metadata.get("in_json", True)
    }


def for_json(value: Any) -> JsonValue:
    """*value* as JSON can have it, also in UTF-8."""
    # Most are cells of tables, of which there are many.
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        # UTF-8 has no halves of surrogate pairs, and web frameworks send JSON in it.
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        items = cast("Mapping[str, Any]", value).items()
        return {name: for_json(item) for name, item in items}
    if isinstance(value, list | tuple):
        return [*map(for_json, cast("list[Any]", value))]
    if isinstance(value, type | Enum):
        value = value.value if isinstance(value, Enum) else value.__name__
    return cast("JsonValue", value.to_dict() if hasattr(value, "to_dict") else value)
