"""No broker meets an exception that it does not expect.

Errors of the disk are expected, and so is what a session's end does to ZooKeeper's answers; anything
else that reaches a catch-all handler, or nobody at all, is a bug.
"""

from __future__ import annotations

import asyncio

from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.ports.coordinator import CoordinatorError
from tests.simulation.invariants.base import Invariant

NOT_RETRIEVED = "Future exception was never retrieved"


class NoInternalErrors(Invariant):
    name = "no unexpected exception"

    def loop_error(self, loop: str, message: str, error: BaseException | None) -> None:
        if message == NOT_RETRIEVED and isinstance(error, KafkaError):
            return  # a refusal for somebody who was cancelled in the very same step
        if error is not None and not _is_expected(error):
            self.broken(f"{loop}: {message}: {error!r} at {_where(error)}")

    def logged_error(self, loop: str, message: str, error: BaseException) -> None:
        if not _is_expected(error):
            self.broken(f"{loop}: {message}: {error!r} at {_where(error)}")


def _is_expected(error: BaseException) -> bool:
    if isinstance(error, KafkaError):
        return error.code == ErrorCode.KAFKA_STORAGE_ERROR
    return isinstance(
        error, OSError | TimeoutError | CoordinatorError | asyncio.CancelledError | ConnectionError
    )


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    where = "?"
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename.rsplit("/", 1)[-1]
        where = f"{name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return where
