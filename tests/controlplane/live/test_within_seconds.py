"""How long after a harm is true REST says so: beat, workers and brokers are real, the collector has
its own period and the formulas their own values.

Three groups come to harm beside each other: one stops, one loses records to retention, one is about
to. When each became true is known without the collector: by the clock of its last commit, by the
log's start, and by the timestamp of its oldest unread record.
"""

import threading
import time

import pytest
from confluent_kafka import TopicPartition

from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.telemetry import SAMPLE_INTERVAL_S

pytestmark = [pytest.mark.cluster, pytest.mark.redis, pytest.mark.timeout(900)]
RULES = Rules()
VISIBLE_S_MAX = 30.0
BROKERS_CHECK_S = 300.0
"""How often brokers look what retention takes, unless their operator says otherwise."""
DEADLINE_S = BROKERS_CHECK_S + 200
LOSING_KEEPS_S, RISKY_KEEPS_S = 20, 420
AT_RISK_AFTER_S = RISKY_KEEPS_S * RULES.at_risk_share


class Harm:
    """A topic of one partition with records, and a group that has committed some of it and left."""

    def __init__(self, service, clients, name, *, keep_s, committed, records=300):
        self.service, self.name, self.group = service, name, f"{name}-readers"
        self.committed = committed
        self.true_s = self.seen_s = None
        configs = {"retention.ms": str(keep_s * 1000), "segment.ms": "10000"}
        service.run("topic.create", name=name, partitions=1, replication_factor=3, configs=configs)
        clients.produce(name, records)
        self.client = clients.consumer(self.group)
        at = [TopicPartition(name, 0, committed)]
        self.client.commit(offsets=at, asynchronous=False)
        self.committed_s = time.time()

    def start_offset(self):
        return self.client.get_watermark_offsets(TopicPartition(self.name, 0), timeout=10)[0]

    def first_timestamp_s(self):
        reader = self.client
        reader.assign([TopicPartition(self.name, 0, 0)])
        for _ in range(100):
            message = reader.poll(0.3)
            if message is not None and not message.error():
                reader.unassign()
                return message.timestamp()[1] / 1000
        raise AssertionError(f"nothing was read of {self.name}")

    def said(self):
        """(status, risk) as REST has them of the group."""
        base = f"/clusters/{self.service.cluster_id}/analytics"
        lags = self.service.get(f"{base}/lag?latest=true")["data"]
        topics = self.service.get(f"{base}/retention")["data"]
        risks = [row for topic in topics if topic["topic"] == self.name for row in topic["groups"]]
        mine = [row["status"] for row in lags if row["group"] == self.group]
        risk = [row["status"] for row in risks if row["group"] == self.group]
        return (mine or [None])[0], (risk or [None])[0]

    def __str__(self):
        return f"{self.name}: seen {self.seen_s - self.true_s:.1f} s after it was true"


class Trickle:
    """Ten records a second, so that a topic has a pace."""

    def __init__(self, clients, topic):
        self._clients, self._topic = clients, topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stop.wait(1.0):
            self._clients.produce(self._topic, 10)

    def stop(self):
        self._stop.set()
        self._thread.join(60)


def is_lost(losing):
    """Whether retention has taken what its group had not read; noted when that is first seen."""
    if losing.true_s is None and losing.start_offset() > losing.committed:
        losing.true_s = time.time()
    return losing.true_s is not None


def test_what_hurts_is_seen_within_seconds(service, cluster, clients):
    # It never caught up, so that its lag has no trend: it has stopped when it was quiet for long.
    stopped = Harm(service, clients, "stops", keep_s=86_400, committed=100)
    losing = Harm(service, clients, "loses", keep_s=LOSING_KEEPS_S, committed=100)
    risky = Harm(service, clients, "risky", keep_s=RISKY_KEEPS_S, committed=0)
    stopped.true_s = stopped.committed_s + RULES.quiet_s
    risky.true_s = risky.first_timestamp_s() + AT_RISK_AFTER_S
    harms = (stopped, losing, risky)
    before = dict.fromkeys(harms)
    trickle = Trickle(clients, "risky")
    ends_s = time.time() + DEADLINE_S
    try:
        while any(harm.seen_s is None for harm in harms):
            assert time.time() < ends_s, {harm.name: harm.said() for harm in harms}
            is_lost(losing)
            for harm, is_said in (
                (stopped, lambda said: said[0] == "STOPPED"),
                (losing, lambda said: said[0] == "DATA_LOST"),
                (risky, lambda said: said[1] == "AT_RISK"),
            ):
                if harm.seen_s is None:
                    said = harm.said()
                    if is_said(said):
                        # It may have come true since the last look.
                        assert harm is not losing or is_lost(losing)
                        harm.seen_s = time.time()
                    else:
                        before[harm] = said
            time.sleep(0.5)
    finally:
        trickle.stop()
        for harm in harms:
            harm.client.close()
    print(*harms, sep="\n")
    collector = service.get(f"/clusters/{service.cluster_id}/analytics/collector")
    print(f"a sample took {collector['took_ms']} ms, {collector['lateness_ms']} ms late")
    assert collector["interval_s"] == SAMPLE_INTERVAL_S
    for harm in harms:
        # It was watched before, and nobody cried wolf.
        assert before[harm] is not None
        assert harm.true_s - 1 <= harm.seen_s <= harm.true_s + VISIBLE_S_MAX, str(harm)
