"""Pauses that the calls of a client share: which one counts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sitestats._common.retryable import LONGEST_PAUSE as LONGEST
from sitestats._common.retryable import Pauses

begun = st.lists(
    st.tuples(st.integers(0, 50), st.floats(0.01, 2 * LONGEST), st.booleans()),
    max_size=20,
)


@given(begun, st.integers(50, 8_000), st.booleans())
def test_the_longest_pause_that_concerns_a_request_counts(
    pauses: list[tuple[int, float, bool]],
    now: int,
    is_search: bool,  # noqa: FBT001 - a parameter
) -> None:
    """A search waits for all pauses, other requests for those of all requests alone;
    none is longer than an hour.
    """
    shared = Pauses()
    for began, seconds, searches_alone in pauses:
        shared.begin(now=began, seconds=seconds, searches_alone=searches_alone)
    ends = [
        began + min(seconds, LONGEST)
        for began, seconds, searches_alone in pauses
        if is_search or not searches_alone
    ]
    left = shared.left(now=now, is_search=is_search)
    assert left == max([0.0, *(end - now for end in ends)])
