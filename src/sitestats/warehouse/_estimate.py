"""How many requests an update needs, and for how long, before it makes them."""

from __future__ import annotations

from typing import Final, Self

import attrs

from sitestats._common.text import counted

_MANY: Final = 10_000
_SECONDS_A_REQUEST: Final = 0.2
"""What a request is taken for where no run was measured."""
_MEASURED: Final = 50
"""A run of fewer requests says little about the pace."""


@attrs.frozen
class Estimate:
    """What an update is going to request, at most."""

    requests: int
    """How many requests: empty days that a histogram shows are counted too."""
    minutes: float
    """How long they take, with the loads."""
    last_requests: int
    """How many the last update made; 0 where there was none."""
    assumption: str
    """What the minutes are reckoned with, in words."""

    @classmethod
    def of(
        cls, requests: int, last_requests: int, last_seconds: float, concurrency: int
    ) -> Self:
        """Reckon with the pace of the last update, where it tells one."""
        if last_requests >= _MEASURED and last_seconds > 0:
            pace = last_requests / last_seconds
            why = "at the pace of the last update"
        else:
            pace = concurrency / _SECONDS_A_REQUEST
            why = f"if {concurrency} at a time take {_SECONDS_A_REQUEST} s each"
        return cls(requests, requests / pace / 60, last_requests, why)

    @property
    def is_large(self) -> bool:
        """Whether it is above 10,000 requests, and twice those of the last update."""
        return self.requests > max(_MANY, 2 * self.last_requests)

    def __str__(self) -> str:
        return (
            f"at most {counted(self.requests, 'request')}, "
            f"about {max(1, round(self.minutes)):,} min {self.assumption}; "
            f"the last update made {self.last_requests:,}"
        )
