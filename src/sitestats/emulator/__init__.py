"""An emulator: a local service, for experiments and tests.

>>> from sitestats.emulator import Emulator
>>> emulator = Emulator.demo()
>>> with emulator.client() as client:
...     client.websites.list()[0].hostname
'semicomplete.com'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sitestats._public import lazy

# Every run of pytest imports this package, for its plugin.
if TYPE_CHECKING:
    from ._emulator import Emulator as Emulator
    from ._http import RecordedRequest as RecordedRequest
    from ._loading import Loaded as Loaded
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            "sitestats.emulator._emulator": ("Emulator",),
            "sitestats.emulator._http": ("RecordedRequest",),
            "sitestats.emulator._loading": ("Loaded",),
        },
    )
