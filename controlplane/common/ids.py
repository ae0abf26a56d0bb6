"""Prefixed ids that sort by creation time: `op_` + 9 time + 11 random base32 characters."""

import secrets
import time

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base32: no i, l, o, u
TIME_CHARS = 9
RANDOM_CHARS = 11


def new_id(prefix: str) -> str:
    """A fresh id such as `op_01hq3…`; 55 random bits make a clash within 1 ms implausible."""
    return f"{prefix}_{_encode(time.time_ns() // 1_000_000, TIME_CHARS)}{_random(RANDOM_CHARS)}"


def _encode(number: int, width: int) -> str:
    chars = []
    for _ in range(width):
        number, digit = divmod(number, 32)
        chars.append(ALPHABET[digit])
    return "".join(reversed(chars))


def _random(width: int) -> str:
    """Asks for entropy once: thousands of alerts may begin in one round."""
    return _encode(secrets.randbits(5 * width), width)
