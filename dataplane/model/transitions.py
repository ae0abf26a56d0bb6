"""What every state table of the data plane refuses with."""

from __future__ import annotations


class IllegalTransitionError(Exception):
    """A transition that a state table does not have: a bug, or memory that is no longer true."""
