"""Reads of a gateway end in a value or a GatewayError, whatever a broker answers.

A tenant's address may be anything. A list of length -1 is None to the library, a number that names
no kind is a ValueError: whoever asks is told that nothing can be made of the answer.
"""

import logging
import struct
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from controlplane.common.once_a_minute import OnceAMinute
from controlplane.gateway.errors import malformed
from controlplane.gateway.port import READS

log = logging.getLogger(__name__)
SAID = OnceAMinute(None)
"""In each process by itself; it may as well be a bug of ours."""
NONSENSE = (
    struct.error,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)
"""What taking apart raises that is no answer of Kafka."""
G = TypeVar("G")


def understood(gateway: type[G]) -> type[G]:
    """The class, its reads so. A write is left alone: that one may have been done."""
    for name in READS - {"close"}:
        setattr(gateway, name, _understood(getattr(gateway, name), name.replace("_", " ")))
    return gateway


def _understood(read: Callable[..., Any], what: str) -> Callable[..., Any]:
    @wraps(read)
    def ask(*args: Any, **kwargs: Any) -> Any:
        try:
            return read(*args, **kwargs)
        except NONSENSE as error:
            if SAID.may(what):
                log.warning("%s: an answer that is none (said once a minute)", what, exc_info=True)
            raise malformed(what) from error

    return ask
