"""Topic ids as text, the way Kafka writes them: URL-safe base64 without padding."""

from __future__ import annotations

import base64
import binascii
import uuid


def format_uuid(value: uuid.UUID) -> str:
    return base64.urlsafe_b64encode(value.bytes).rstrip(b"=").decode()


def parse_uuid(text: str) -> uuid.UUID:
    """`ValueError` if it is not one."""
    try:
        return uuid.UUID(bytes=base64.urlsafe_b64decode(text + "=="))
    except binascii.Error as error:
        raise ValueError(f"{text!r} is not a topic id") from error
