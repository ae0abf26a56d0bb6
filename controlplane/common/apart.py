"""One of many in a round: what is odd about it is logged, and the others are seen to."""

import logging
from collections.abc import Callable
from typing import TypeVar

from django.db import InterfaceError, OperationalError

log = logging.getLogger(__name__)
R = TypeVar("R")
S = TypeVar("S")


def apart(what: str, work: Callable[[], R], otherwise: S) -> R | S:
    """`work()`, or `otherwise` where it fails, with a line in the log that begins by `what`.

    Raises:
        OperationalError, InterfaceError: the database is away, which is everybody's trouble.
    """
    try:
        return work()
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("%s failed; the round goes on with the others", what)
        return otherwise
