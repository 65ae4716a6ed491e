"""The senders, imported with whatever else calls need, when a client is made.

A call imports nothing: a process that is forked while another thread of its parent
imports a module has the lock of that module for ever. An import also opens a file, and
later every descriptor may be in use by a connection. What ``ensure`` needs comes with
the class of its argument, ``WebsiteSpec``.
"""

# ruff: noqa: F401 - imported for the calls
# pyright: reportUnusedImport=false

from __future__ import annotations

import email.utils
import encodings.ascii
import encodings.idna
import encodings.latin_1
import html.entities
import socket
import traceback

import anyio.to_thread
import dateutil.relativedelta
import msgspec

import sitestats._client.log
import sitestats._protocol.converter
import sitestats._results.comparison
from sitestats._transport.sender import AsyncSender, Sender

__all__ = ["AsyncSender", "Sender"]
