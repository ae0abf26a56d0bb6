"""What a worker writes is refused once it may have lost its lease, whoever asks for the write.

Inside `fenced_by` whatever came through `fenced` asks before each write, and so does every SQL
statement of this thread. What only reads is named; everything else counts as a write.
"""

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar, cast

from django.db import connection

from controlplane.common.metrics import WRITES_REFUSED

Target = TypeVar("Target")
Check = Callable[[], None]
_READING_SQL = ("SELECT", "SAVEPOINT", "RELEASE", "ROLLBACK", "BEGIN", "COMMIT")
_current: ContextVar[Check | None] = ContextVar("fence", default=None)
_is_asked: ContextVar[bool] = ContextVar("fence_is_asked", default=False)


@contextlib.contextmanager
def fenced_by(check: Check) -> Iterator[None]:
    """From here to the end of the block no write begins unless `check` passes."""

    def counted() -> None:
        is_asked = _is_asked.set(True)
        try:
            check()
        except Exception:
            WRITES_REFUSED.inc()
            raise
        finally:
            _is_asked.reset(is_asked)

    def execute(run: Callable[..., Any], sql: str, *rest: Any) -> Any:
        # The check may renew the lease over this very connection.
        if not _is_asked.get() and not sql.lstrip("( \n").upper().startswith(_READING_SQL):
            counted()
        return run(sql, *rest)

    token = _current.set(counted)
    try:
        with connection.execute_wrapper(execute):
            yield
    finally:
        _current.reset(token)


def fenced(target: Target, reads: frozenset[str], views: frozenset[str] = frozenset()) -> Target:
    """`target`, whose methods but those of `reads` ask the fence of this block; outside, itself.

    Those of `views` answer with an object that is fenced in the same way.
    """
    check = _current.get()
    return target if check is None else cast("Target", _Fenced(target, reads, views, check))


class _Fenced:
    def __init__(
        self, target: object, reads: frozenset[str], views: frozenset[str], check: Check
    ) -> None:
        self._target, self._reads, self._views, self._check = target, reads, views, check

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if name in self._reads or not callable(found):
            return found
        if name in self._views:
            return lambda *args: _Fenced(found(*args), self._reads, self._views, self._check)

        def write(*args: Any, **kwargs: Any) -> Any:
            self._check()
            return found(*args, **kwargs)

        return write
