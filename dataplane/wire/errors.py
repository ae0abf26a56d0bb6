"""What can be wrong with bytes on the wire."""

from __future__ import annotations


class WireError(ValueError):
    """The bytes are not a message of this schema and version, or the message cannot be written."""
