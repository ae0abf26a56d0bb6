"""Text in a cell of a CSV that no spreadsheet takes for a formula. Pure.

Whoever names a group, writes a record or gives a reason chooses what stands in somebody's file.
"""

import unicodedata
from itertools import dropwhile

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""The last four are the full-width ones, which spreadsheets of East Asia take for the others."""


def no_formula(text: str) -> str:
    """The text, with a quote before it where it might be run."""
    if text.startswith(FORMULA_STARTS):
        return f"'{text}"
    # What a spreadsheet may leave out before it looks: blanks of any kind, and what has no width.
    seen = "".join(dropwhile(_is_left_out, text))
    return f"'{text}" if seen.startswith(FORMULA_STARTS) else text


def _is_left_out(sign: str) -> bool:
    return sign.isspace() or unicodedata.category(sign) in {"Cc", "Cf"}
