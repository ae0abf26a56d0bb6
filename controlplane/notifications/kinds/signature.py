"""The header by which a receiver knows that a body is ours and fresh. Pure.

`Penstock-Signature: t=1767225600,v1=5257a8…,v1=09c3…`: `t` is when it was sent, in seconds since
1970; each `v1` is HMAC-SHA-256, in hex, of `t`, a dot and the body. While a secret is being changed
there are two, of the new and of the old one: a receiver accepts what has one that it can make.
"""

import hashlib
import hmac
from collections.abc import Sequence

SIGNATURE_HEADER = "Penstock-Signature"
SECRET_MIN_CHARS, SECRET_MAX_CHARS = 24, 200
FRESH_S = 300
"""For how long a receiver should take a signature for fresh."""


def signature(secrets: Sequence[str], at_s: int, body: bytes) -> str:
    """The header's value, with one signature for each secret."""
    return ",".join([f"t={at_s}", *(f"v1={_digest(secret, at_s, body)}" for secret in secrets)])


def _digest(secret: str, at_s: int, body: bytes) -> str:
    return hmac.new(secret.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
