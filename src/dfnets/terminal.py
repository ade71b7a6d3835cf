"""Texts from files on a terminal: printed, never obeyed."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text


def plain(text: object) -> str:
    """A text that a terminal prints and does not obey: control characters and changes of direction become escapes.

    Ids, names of classes and paths come from files that anybody may have written; an escape sequence among them could
    move the cursor, rename the window or hide what follows.

    >>> print(plain("a\\x1b[31mb"))
    a\\x1b[31mb
    """
    return "".join(
        c.encode("unicode_escape").decode() if unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\n\t" else c
        for c in str(text)
    )


def cell(text: object) -> Text:
    """A text for a cell of a table, in which square brackets mean nothing."""
    from rich.text import Text

    return Text(plain(text))
