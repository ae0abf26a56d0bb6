"""Django's backend for PostgreSQL, whose connections give up on a server that does not answer.

A server that hangs (a frozen machine, a disk that answers nothing) keeps its connections alive: the
kernel acknowledges what is sent, so neither keepalives nor `tcp_user_timeout` notice, and its own
`statement_timeout` is as frozen as the rest. Only who waits can say that it was long enough.
"""

import time
from typing import Any, TypeVar

import psycopg
from django.db.backends.postgresql import base
from psycopg.abc import PQGen

from controlplane.postgres.patience import limit_s

R = TypeVar("R")


class AnswerOverdueError(psycopg.OperationalError):
    """The server has not answered in time; what was asked may or may not have been done."""


class ImpatientConnection(psycopg.Connection[Any]):
    """Waits for each answer as long as `patience` says, and is closed when none comes."""

    def wait(self, gen: PQGen[R], *args: Any, **kwargs: Any) -> R:
        seconds = limit_s()
        if seconds is None:
            return super().wait(gen, *args, **kwargs)
        try:
            return super().wait(_within(seconds, gen), *args, **kwargs)
        except AnswerOverdueError:
            self.pgconn.finish()  # without a word: nobody would read it
            raise


def _within(seconds: float, gen: PQGen[R]) -> PQGen[R]:
    """`gen`, which psycopg also resumes ten times a second while there is nothing to read."""
    deadline_s = time.monotonic() + seconds
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= deadline_s:
                raise AnswerOverdueError(f"the database has not answered for {seconds:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        answer: R = end.value
        return answer


class _Psycopg:
    """The library as Django's wrapper sees it, with connections of ours."""

    connect = ImpatientConnection.connect

    def __getattr__(self, name: str) -> Any:
        return getattr(psycopg, name)


class DatabaseWrapper(base.DatabaseWrapper):
    """Found by Django through `ENGINE = "controlplane.postgres"`."""

    Database: Any = _Psycopg()
