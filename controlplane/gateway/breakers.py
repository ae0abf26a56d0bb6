"""The breakers of all clusters, one record a cluster for all processes.

The records lie in Redis and change by compare and set, so that eight processes learn once that a
cluster is away and only one of them asks it as the probe. While Redis is away each process goes by
what it last knew and learns for itself. `breaker` decides, this keeps.
"""

import json
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from redis.exceptions import RedisError

from controlplane.common.once_a_minute import OnceAMinute
from controlplane.common.redis_link import LINK, PREFIX, RedisLink
from controlplane.gateway import breaker
from controlplane.gateway.breaker import CLOSED, NOTHING_KNOWN, Pass, Policy, Record, Refuse

log = logging.getLogger(__name__)
KEPT_S = 24 * 3600
"""A record that nobody has written for so long goes."""
OWN_RECORDS_MAX = 4096
"""Records that a process keeps for the time without Redis; the longest unused go first."""
ANSWER_NOTED_EVERY_S = 1.0


def configured_policy() -> Policy:
    return Policy(
        open_max_s=settings.BREAKER_OPEN_MAX_S,
        # One question of the gateway may be a few of the protocol, each with its deadline.
        probe_s=settings.GATEWAY_TIMEOUT_S * 3,
    )


class Breakers:
    """One per process; the clock and Redis are arguments for tests."""

    def __init__(
        self,
        link: RedisLink,
        *,
        policy: Callable[[], Policy] = configured_policy,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._link = link
        self._policy = policy
        self._wall_s = wall_s
        self._lock = threading.Lock()
        self._own: OrderedDict[str, Record] = OrderedDict()
        self._complaints = OnceAMinute(link)

    def look(self, cluster_id: str) -> tuple[Record, Pass | Refuse]:
        """What is known of a cluster, and what `enter` would say; changes nothing."""
        record = self._read(cluster_id)
        return record, breaker.ask(record, self._wall_s(), self._policy())[1]

    def enter(self, cluster_id: str) -> tuple[Record, Pass | Refuse]:
        """Ask to pass. Of all that ask a breaker whose time is up, one passes: the probe."""
        decided: list[Pass | Refuse] = []

        def change(record: Record) -> Record:
            after, decision = breaker.ask(record, self._wall_s(), self._policy())
            decided.append(decision)
            return after

        after = self._update(cluster_id, change)
        return after, decided[-1]

    def answered(self, cluster_id: str) -> None:
        known, now_s = self._own.get(cluster_id, NOTHING_KNOWN), self._wall_s()
        is_clean = known.state == CLOSED and not known.failures
        if is_clean and now_s - (known.answered_at_s or 0) < ANSWER_NOTED_EVERY_S:
            return
        after = self._update(cluster_id, lambda record: breaker.answered(record, now_s))
        if known.state != CLOSED and after.state == CLOSED:
            log.info("the cluster %s answers again", cluster_id)

    def failed(
        self, cluster_id: str, *, took_s: float, reason: str, is_probe: bool, is_particular: bool
    ) -> None:
        after = self._update(
            cluster_id,
            lambda record: breaker.failed(
                record,
                self._wall_s(),
                self._policy(),
                took_s=took_s,
                reason=reason,
                is_probe=is_probe,
                is_particular=is_particular,
            ),
        )
        if after.failures and self._complaints.may(f"cluster-away:{cluster_id}"):
            log.warning(
                "the cluster %s does not answer (%s in a row, its breaker is %s): %s",
                cluster_id,
                after.failures,
                after.state,
                reason,
            )

    def records(self, cluster_ids: Iterable[str]) -> dict[str, Record]:
        """What is known of each; a cluster that nobody has asked yet is left out."""
        wanted = list(cluster_ids)
        if not wanted:
            return {}
        try:
            rows = self._link.call(lambda client: client.mget([_key(each) for each in wanted]))
        except RedisError:
            return {each: self._own[each] for each in wanted if each in self._own}
        return {each: _record(row) for each, row in zip(wanted, rows, strict=True) if row}

    def forget(self, cluster_id: str) -> None:
        """The cluster is removed."""
        with self._lock:
            self._own.pop(cluster_id, None)
        try:
            self._link.call(lambda client: client.delete(_key(cluster_id)))
        except RedisError as error:
            log.debug("the record of %s runs out by itself: %s", cluster_id, error)

    def _read(self, cluster_id: str) -> Record:
        try:
            found = _record(self._link.call(lambda client: client.get(_key(cluster_id))))
        except RedisError:
            return self._own.get(cluster_id, NOTHING_KNOWN)
        self._keep(cluster_id, found)
        return found

    def _update(self, cluster_id: str, change: Callable[[Record], Record]) -> Record:
        key = _key(cluster_id)

        def compare_and_set(pipe: Any) -> Record:
            before = _record(pipe.get(key))
            after = change(before)
            pipe.multi()
            if after != before:
                pipe.set(key, json.dumps(after.as_dict()), ex=KEPT_S)
            return after

        try:
            after: Record = self._link.call(
                lambda client: client.transaction(compare_and_set, key, value_from_callable=True)
            )
        except RedisError:
            with self._lock:
                after = change(self._own.get(cluster_id, NOTHING_KNOWN))
        self._keep(cluster_id, after)
        return after

    def _keep(self, cluster_id: str, record: Record) -> None:
        with self._lock:
            self._own[cluster_id] = record
            self._own.move_to_end(cluster_id)
            while len(self._own) > OWN_RECORDS_MAX:
                self._own.popitem(last=False)


def _key(cluster_id: str) -> str:
    return f"{PREFIX}breaker:{cluster_id}"


def _record(text: bytes | None) -> Record:
    """As another process wrote it; one of another version counts as nothing known."""
    if not text:
        return NOTHING_KNOWN
    try:
        return Record(**json.loads(text))
    except (TypeError, ValueError):
        return NOTHING_KNOWN


BREAKERS = Breakers(LINK)
