"""Text from outside, made fit for a terminal and for what takes UTF-8 alone.

Visitors choose the paths, referrers and event names that statistics show. A
control character among them could move the cursor, rename the window or hide
what comes next. JSON can also hold half of a surrogate pair, which no UTF-8 can.
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


def encodable(text: str) -> str:
    """*text* with halves of surrogate pairs shown as escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
