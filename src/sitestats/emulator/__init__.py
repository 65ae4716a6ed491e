"""An emulator: a local stand-in for the service, for experiments and tests.

>>> from sitestats.emulator import Emulator
>>> emulator = Emulator.demo()
>>> with emulator.client() as client:
...     client.websites.list()[0].hostname
'semicomplete.com'

It needs the extra ``emulator``: ``pip install 'sitestats[emulator]'``.
"""

from __future__ import annotations

from ._emulator import Emulator
from ._http import RecordedRequest

__all__ = ["Emulator", "RecordedRequest"]
