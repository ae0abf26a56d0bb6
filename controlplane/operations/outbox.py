"""Tasks leave through the outbox: a row in the caller's transaction, sent after its commit.

A crash between commit and send leaves the row; beat drains it. A crash between send and
delete sends twice; every task bears that.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from typing import Any

from django.db import Error, connection, transaction

from controlplane.operations.models import OutboxMessage

log = logging.getLogger(__name__)
DRAIN_BATCH = 200
TICK = "operations.tick"

Publisher = Callable[[str, list[Any], float], None]
_wanted: threading.Event | None = None


def enqueue(task: str, args: list[Any], *, countdown_s: float = 0.0) -> None:
    """Ask for a task. Must run in a transaction with the change that needs it."""
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("the outbox is written inside a transaction")
    OutboxMessage.objects.create(task=task, args=args, countdown_s=countdown_s)
    transaction.on_commit(_hand_over, robust=True)


def ask(task: str, args: list[Any], *, countdown_s: float = 0.0) -> None:
    """Ask for a task after the commit, without a row of its own.

    Only for what a row that is written anyway asks for too: a tick that is lost on the way is
    brought by the sweep, as its operation is due.
    """
    transaction.on_commit(lambda: _send(task, args, countdown_s), robust=True)


def _send(task: str, args: list[Any], countdown_s: float) -> None:
    try:
        _publish(task, args, countdown_s)
    except Exception as error:  # noqa: BLE001 - whatever the transport raises, the sweep comes
        log.warning("outbox: %s of %s is left to the sweep: %s", task, args, error)


def send(task: str, many: Iterable[list[Any]]) -> int:
    """Send the task with each of these arguments now, whatever becomes of transactions; how many.

    Only for what is asked for again by itself: it stops at the first refusal (Redis is away).
    """
    sent = 0
    for args in many:
        try:
            _publish(task, args, 0.0)
        except Exception as error:  # noqa: BLE001 - whatever the transport raises, it is tried again
            log.warning("outbox: %s is sent later, the queue is away: %s", task, error)
            break
        sent += 1
    return sent


def drain() -> int:
    """Hand every waiting row to Celery; stops at the first refusal (Redis is away)."""
    sent = 0
    for message in OutboxMessage.objects.order_by("pk")[:DRAIN_BATCH]:
        try:
            _publish(message.task, message.args, message.countdown_s)
        except Exception as error:  # noqa: BLE001 - whatever the transport raises, the row stays
            log.warning("outbox: %s waits, the queue is away: %s", message.task, error)
            break
        OutboxMessage.objects.filter(pk=message.pk).delete()
        sent += 1
    return sent


def drain_in_background() -> None:
    """From now on a thread of this process drains: no request waits for a queue that hangs."""
    global _wanted  # noqa: PLW0603 - one drainer per process
    if _wanted is None:
        _wanted = threading.Event()
        threading.Thread(target=drain_when, args=(_wanted,), name="outbox", daemon=True).start()


def _hand_over() -> None:
    if _wanted is None:
        drain()
    else:
        _wanted.set()


def drain_when(wanted: threading.Event) -> None:
    """Drain each time that it is wanted, whatever becomes of the database; never returns."""
    while wanted.wait():
        wanted.clear()
        try:
            drain()
        except Error as error:
            log.warning("outbox: the rows wait for beat: %s", error)
        finally:
            connection.close()  # the thread may sleep for hours; nothing stays open meanwhile


def _send_by_celery(task: str, args: list[Any], countdown_s: float) -> None:
    from celery import current_app

    current_app.send_task(task, args=args, countdown=countdown_s or None)


_publish: Publisher = _send_by_celery


def use_publisher(publisher: Publisher | None) -> None:
    """Tests collect what would be sent; None goes back to Celery."""
    global _publish  # noqa: PLW0603 - one process, one transport
    _publish = publisher or _send_by_celery
