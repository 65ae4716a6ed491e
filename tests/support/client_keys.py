"""The key that a client sends, and errors that show none."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from sitestats import AsyncClient, Client, ConfigurationError

KEY = "sa_api_key_0123456789abcdefghijklmn"


CLIENTS = pytest.mark.parametrize("cls", [Client, AsyncClient])


POSIX = pytest.mark.skipif(os.name == "nt", reason="needs POSIX")


def key_of(client: Any) -> str | None:
    """The key that *client* sends."""
    key = client._settings.api_key
    return None if key is None else key.reveal()


def refused(call: Callable[[], object]) -> str:
    """The message of the error of *call*, which shows no key."""
    with pytest.raises(ConfigurationError) as caught:
        call()
    assert KEY not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)
