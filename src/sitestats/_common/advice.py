"""Messages with advice as data: the step or the argument that mends a problem.

A ``Message`` is a str: the text for Python. Another surface, such as the command line,
renders the same message in words of its own. Adding to a message with ``+`` makes
another one; every other operation of a str, an f-string too, gives the text alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

import attrs

from .text import shown


class Advice:
    """A part of a message that surfaces render in words of their own.

    Its ``str`` is that of Python.
    """

    __slots__ = ()

    def __add__(self, other: str | Advice) -> Message:
        return Message(self, other)

    def __radd__(self, other: str) -> Message:
        return Message(other, self)


class Step(Advice):
    """A call of a step of the query builder; an ellipsis stands for any value.

    >>> from sitestats._common.advice import Step
    >>> "use " + Step("fields", "pages", ...) + " or " + Step("where", page="/")
    "use .fields('pages', …) or .where(page='/')"
    """

    __slots__ = ("name", "named", "values")

    def __init__(self, name: str, /, *values: object, **named: object) -> None:
        self.name: Final = name
        self.values: Final = values
        self.named: Final = named

    def __str__(self) -> str:
        named = [f"{name}={_python(value)}" for name, value in self.named.items()]
        return f".{self.name}({', '.join([*map(_python, self.values), *named])})"


class Place(Step):
    """The argument of a step that a problem is in: ``where(country=…)``."""

    __slots__ = ()

    def __str__(self) -> str:
        return super().__str__()[1:]


def at(name: str, /, *values: object, **named: object) -> Message:
    """The place of a problem with an argument of a step.

    >>> from sitestats._common.advice import at
    >>> at("where", country=...)
    'where(country=…)'
    """
    return Message(Place(name, *values, **named))


@attrs.frozen
class Argument(Advice):
    """An argument, by its name alone or with a value; an ellipsis is any value.

    >>> from sitestats._common.advice import Argument
    >>> Argument("timeout") + " or " + Argument("against", "previous_period")
    "timeout or against='previous_period'"
    """

    name: str
    value: object = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={_python(self.value)}"


@attrs.frozen
class PythonOnly(Advice):
    """Words about Python alone, which other surfaces leave out."""

    text: str

    def __str__(self) -> str:
        return self.text


def _python(value: object) -> str:
    if value is ...:
        return "…"
    return "{…}" if isinstance(value, dict) else shown(value)


class Message(str):
    """A text for Python that another surface can render.

    >>> from sitestats._common.advice import Message, Step
    >>> message = "use " + Step("limit", 5)
    >>> message
    'use .limit(5)'
    >>> message.render(lambda step: f"--{step.name} 5")
    'use --limit 5'
    """

    __slots__ = ("parts",)
    parts: tuple[str | Advice, ...]

    def __new__(cls, *parts: str | Advice) -> Self:
        """Make the message of *parts*, in their order."""
        self = super().__new__(cls, "".join(map(str, parts)))
        self.parts = parts
        return self

    def __add__(self, other: str | Advice) -> Message:
        return Message(self, other)

    def __radd__(self, other: str) -> Message:
        return Message(other, self)

    def render(self, words: Callable[[Advice], str]) -> str:
        """The text with *words* for each advice."""
        return "".join(
            words(part) if isinstance(part, Advice) else render(part, words)
            for part in self.parts
        )


def render(message: str | BaseException, words: Callable[[Advice], str]) -> str:
    """The text of a message, an error or a warning with *words* for each advice."""
    text = error_text(message) if isinstance(message, BaseException) else message
    return text.render(words) if isinstance(text, Message) else text


def error_text(error: BaseException) -> str:
    """The text of an error or a warning: a ``Message`` where it was made of one."""
    message, text = error.args[0] if error.args else None, str(error)
    if not isinstance(message, Message):
        return text
    # Some classes add to it, such as the status of a response.
    return message + text.removeprefix(message)
