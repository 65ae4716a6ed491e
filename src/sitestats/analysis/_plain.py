"""Text from outside, made fit for a terminal.

Visitors choose the paths, referrers and event names that statistics show. A
control character among them could move the cursor, rename the window or hide
what comes next.
"""

from __future__ import annotations


def plain(text: str) -> str:
    """*text* with everything that can't be printed shown as an escape."""
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable()
        else character.encode("unicode_escape", "surrogatepass").decode("ascii")
        for character in text
    )
