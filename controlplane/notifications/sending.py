"""Attempts: one, and rounds of them by a few threads.

The thread of the round alone asks the database; the others render, connect and wait. An attempt
that was made and not written down (the process was killed) is made again once its lease is over,
with the next number: a receiver gets each event at least once, and can tell.
"""

import logging
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from django.conf import settings
from django.utils import timezone

from controlplane.gateway.egress import policy_of
from controlplane.notifications import http_sender, mail_sender, queue
from controlplane.notifications.events import AlertEvent, event_of
from controlplane.notifications.kinds.message import Mail, Stamp, Target
from controlplane.notifications.kinds.table import render
from controlplane.notifications.rules import Outcome
from controlplane.notifications.turns import THREADS, Turns, Waiting

log = logging.getLogger(__name__)
ROUND_S = 20.0
"""A round begins no attempt after that: it holds a thread of a worker, and the next one follows."""
LOOK_AGAIN_S = 0.5
"""How soon a round sees what has become due meanwhile."""
Entropy = Callable[[], float]
_round = threading.Lock()
_chance: Entropy = random.SystemRandom().random


def attempt(kind: str, event: AlertEvent, target: Target, stamp: Stamp) -> Outcome:
    """Render and send once. Raises nothing that receivers, names or settings can cause."""
    try:
        outgoing = render(kind, event, target, stamp)
    except (KeyError, TypeError, ValueError) as error:
        # The error's own text may hold what the destination is made of.
        log.warning("%s: nothing can be rendered: %s", stamp.delivery_id, type(error).__name__)
        text = "This destination lacks what its kind needs."
        return Outcome(is_delivered=False, code="not-rendered", text=text)
    if isinstance(outgoing, Mail):
        return mail_sender.send(outgoing)
    return http_sender.send(outgoing, policy_of(settings.EGRESS_ALLOWED), stamp.sent_at)


def send_due(*, round_s: float = ROUND_S, entropy: Entropy = _chance) -> int:
    """Send what is due, until nothing is or the time is over; how many attempts were made.

    One round at a time in a process: 0 while another one is at it.
    """
    if not _round.acquire(blocking=False):
        return 0
    try:
        with ThreadPoolExecutor(THREADS, thread_name_prefix="deliver") as pool:
            return _Round(pool, round_s, entropy).run()
    finally:
        _round.release()


class _Round:
    def __init__(self, pool: ThreadPoolExecutor, round_s: float, entropy: Entropy) -> None:
        self._pool, self._entropy = pool, entropy
        self._ends_s = time.monotonic() + round_s
        self._turns = Turns()
        self._under_way: dict[Future[Outcome], queue.Job] = {}
        self._waiting: list[Waiting] = []
        self._empty: set[str] = set()
        self._looked_s = float("-inf")

    def run(self) -> int:
        made = 0
        while True:
            made += self._begin_some()
            if not self._under_way:
                return made
            done, _ = wait(self._under_way, timeout=LOOK_AGAIN_S, return_when=FIRST_COMPLETED)
            for future in done:
                self._end(future)

    def _begin_some(self) -> int:
        begun = 0
        while time.monotonic() < self._ends_s:
            if time.monotonic() - self._looked_s >= LOOK_AGAIN_S:
                self._look()
            chosen = self._turns.choose(self._waiting, self._empty)
            if chosen is None:
                break
            job = queue.take(chosen.destination_id, timezone.now())
            if job is None:
                self._empty.add(chosen.destination_id)
                continue
            self._turns.begin(chosen)
            self._under_way[self._pool.submit(_attempt_of, job)] = job
            begun += 1
        return begun

    def _look(self) -> None:
        self._waiting, self._empty = queue.waiting(timezone.now()), set()
        self._looked_s = time.monotonic()

    def _end(self, future: Future[Outcome]) -> None:
        job = self._under_way.pop(future)
        self._turns.end(job.destination_id)
        try:
            outcome = future.result()
        except Exception:
            log.exception("%s: the attempt broke off", job.delivery_id)
            text = "The service failed on its side."
            outcome = Outcome(is_delivered=False, code="internal", text=text, is_retriable=True)
        queue.record(job, outcome, timezone.now(), entropy=self._entropy)


def _attempt_of(job: queue.Job) -> Outcome:
    stamp = Stamp(delivery_id=job.delivery_id, attempt=job.attempt, sent_at=timezone.now())
    return attempt(job.kind, event_of(job.event), job.target, stamp)
