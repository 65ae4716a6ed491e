"""Types of the keyword arguments that the emulator passes on."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import os
    import ssl
    from collections.abc import Callable, Mapping

    from sitestats import KeyValueStore, RetryPolicy

    from ._http import RecordedRequest


class ServiceOptions(TypedDict, total=False):
    """The arguments of ``Emulator`` about how the service responds."""

    role: str
    website_limit: int | None
    contains_per_minute: int | None
    null_entries: bool
    ignore_unknown_keys: bool
    bare_list: bool


class EmulatorOptions(ServiceOptions, total=False):
    """The arguments of ``Emulator``."""

    now: datetime | None
    api_key: str | None
    user_id: str | None


class WebsiteOptions(TypedDict, total=False):
    """What ``add_website`` sets, and ``change_website`` changes."""

    timezone: str
    public: bool
    label: str
    hide_pages: bool
    locked: bool
    own_hostname: str | None
    has_ssl: bool


class Delivery(TypedDict, total=False):
    """The arguments of ``Emulator.fail_next`` that a ``Fault`` has as they are."""

    latency: float
    drip: float
    cut_off: int | None
    reset: bool
    processed: bool
    method: str | None
    path: str | None
    when: Callable[[RecordedRequest], bool] | None


class FaultOptions(Delivery, total=False):
    """The arguments of ``Emulator.fail_next``."""

    status: int | None
    retry_after: float | str | datetime | None
    headers: Mapping[str, str] | None
    body: object
    garbage: bool
    redirect: str | None


class ClientOptions(TypedDict, total=False):
    """The arguments of ``Client`` and ``AsyncClient`` that you can set."""

    base_url: str
    api_key: str | None
    user_id: str | None
    timeout: float
    total_timeout: float
    retries: int | RetryPolicy
    max_connections: int
    max_response_bytes: int
    read_only: bool
    verify: bool | str | os.PathLike[str] | ssl.SSLContext
    headers: Mapping[str, str] | None
    user_agent: str | None
    store: str | os.PathLike[str] | KeyValueStore | None
