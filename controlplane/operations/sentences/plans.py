"""Warnings that plans of every kind may have."""

from collections.abc import Mapping
from typing import Final

from controlplane.operations.risks import STAYS

PLANS: Final[Mapping[str, str]] = {
    "unknown": "Unknown: {reason}. That leaves uncertain: {extents}.",
    "undoes": "This undoes {operation}: {restores}.",
    "undoes/rest": (
        "This takes away what {operation} left, which is {state:failed=failed|cancelled=cancelled}:"
        " {remains}"
    ),
    "undoes/unnoted": (
        "This takes away what {operation} left, which is {state:failed=failed|cancelled=cancelled}:"
        " nobody noted what."
    ),
    **{f"not-restored/{risk}": text for risk, text in STAYS.items()},
    "undo-is-final": "The undo itself is final: {final}.",
    "no-undo": "This cannot be undone: {final}.",
}
