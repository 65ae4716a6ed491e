"""An emulator: a local stand-in for the service, for experiments and tests.

>>> from sitestats.emulator import Emulator
>>> emulator = Emulator.demo()
>>> with emulator.client() as client:
...     client.websites.list()[0].hostname
'semicomplete.com'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._emulator import Emulator
    from ._http import RecordedRequest

__all__ = ["Emulator", "RecordedRequest"]


# Every run of pytest imports this package, for its plugin.
def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}._emulator"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
