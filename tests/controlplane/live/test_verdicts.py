"""The collector's verdicts on real brokers: a consumer falls behind, and what was foretold happens."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from controlplane.analytics.chunks import encoded
from controlplane.analytics.judge import Judge
from controlplane.analytics.sampler import Sampler
from controlplane.analytics.slices import number, records
from controlplane.analytics.telemetry import TelemetryPublisher, ensure_topic
from controlplane.analytics.verdicts.evaluator import Evaluator
from controlplane.analytics.verdicts.loss import Removal, loss_interval_ms
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.types import EARLIEST, TP, CommittedOffset, NewTopic
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.statuses import Risk, Status
from tests.local_cluster import eventually, local_cluster

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240)]
ORDERS = TP("orders", 0)
RETENTION_S, SEGMENT_S, CHECK_S = 40, 4, 1
PRODUCED_PER_S, READ_PER_S = 200, 60
# The formulas as they are, with time passing fifteen times as fast.
FAST = Rules(
    window_s=2,
    trend_s=30,
    span_min_s=10,
    quiet_s=20,
    offset_samples_gap_max_s=20,
    slo_s=4.0,
    at_risk_share=0.9,
)


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    settings = {
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
        "log.retention.check.interval.ms": str(CHECK_S * 1000),
    }
    root = tmp_path_factory.mktemp("verdicts")
    with local_cluster(root, brokers=1, settings=settings) as cluster:
        yield ConnectionSpec(bootstrap_servers=(cluster.bootstrap,), timeout_s=20)


@pytest.fixture(scope="module")
def gateway(spec):
    found = KafkaGateway(spec)
    configs = {
        "retention.ms": str(RETENTION_S * 1000),
        "segment.ms": str(SEGMENT_S * 1000),
    }
    found.create_topic(NewTopic(name="orders", partitions=1, replication_factor=1, configs=configs))
    yield found
    found.close()


def commit(gateway, offset):
    for _ in eventually(30, "offsets committed"):
        try:
            gateway.commit_group_offsets("billing", {ORDERS: CommittedOffset(offset=offset)})
        except GatewayError as error:
            if not error.retriable:
                raise
        else:
            return


class Traffic:
    """Produces at one pace, and a consumer of the group reads and commits at a slower one."""

    def __init__(self, spec):
        self.began_s = time.time()
        self.read = 0
        self._stop = threading.Event()
        self._producer = Producer({"bootstrap.servers": spec.bootstrap_servers[0]})
        self._consumer = Consumer(
            {
                "bootstrap.servers": spec.bootstrap_servers[0],
                "group.id": "billing",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe(["orders"])
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._produce, self._read)
        ]
        for thread in self._threads:
            thread.start()

    def _produce(self):
        sent = 0
        while not self._stop.wait(0.1):
            passed_s = time.time() - self.began_s
            while sent < passed_s * PRODUCED_PER_S:
                self._producer.produce("orders", b"x" * 100)
                sent += 1
            self._producer.flush(10)

    def _read(self):
        """So much and no more of what is there, and `read` is what it has committed."""
        taken = 0
        while not self._stop.is_set():
            allowed = int((time.time() - self.began_s) * READ_PER_S) - taken
            found = self._consumer.consume(max(1, min(allowed, 500)), timeout=0.5)
            assert all(message.error() is None for message in found)
            taken += len(found)
            if found:
                at = found[-1].offset() + 1
                offsets = [TopicPartition("orders", 0, at)]
                self._consumer.commit(offsets=offsets, asynchronous=False)
                self.read = at
            self._stop.wait(0.3)
        self._consumer.close()

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join(20)


def test_a_loss_lies_in_the_interval_that_was_foretold(spec, gateway):
    """Real traffic, short retention: the consumer reads 60 of 200 records a second, so the first
    loss comes when its lag of 0.7 s a second reaches the 40 s that are kept."""
    sampler, evaluator = Sampler(), Evaluator(FAST, history_is_whole=True)
    commit(gateway, 0)
    traffic = Traffic(spec)
    foretold, seen_lost_s, lost_at_s, at_risk_s = [], None, None, None
    try:
        while time.time() - traffic.began_s < 120 and seen_lost_s is None:
            sample = sampler.sample(gateway, budget_s=10)
            evaluator.feed(records("kc_live", sample))
            found = [one for one in evaluator.verdicts() if one.topic == "orders"]
            if lost_at_s is None:
                start = gateway.offsets({ORDERS: EARLIEST})[ORDERS].offset
                if start > traffic.read:
                    lost_at_s = time.time()
            for verdict in found:
                removal = Removal(
                    segment_ms=number(sample.configs["orders"], "segment.ms"),
                    segment_bytes=number(sample.configs["orders"], "segment.bytes"),
                    check_interval_ms=sample.retention_check_ms,
                )
                foretold.append((time.time(), verdict, loss_interval_ms(verdict, removal)))
                if verdict.risk == Risk.AT_RISK and at_risk_s is None:
                    at_risk_s = time.time()
                if verdict.status == Status.DATA_LOST:
                    seen_lost_s = time.time()
            time.sleep(0.5)
    finally:
        traffic.stop()
    assert seen_lost_s is not None
    assert lost_at_s is not None
    assert at_risk_s is not None
    print(
        f"at risk after {at_risk_s - traffic.began_s:.1f} s, lost after"
        f" {lost_at_s - traffic.began_s:.1f} s, seen {seen_lost_s - lost_at_s:.1f} s later"
    )
    for at_s, verdict, (from_ms, until_ms) in foretold[::5]:
        if from_ms and until_ms:
            print(
                f"{at_s - traffic.began_s:6.1f} s {verdict.status:<15} {verdict.risk:<8} loss in"
                f" [{from_ms / 1000 - traffic.began_s:.1f}, {until_ms / 1000 - traffic.began_s:.1f}]"
            )
    last = [row for row in foretold if row[0] < lost_at_s - 5 and None not in row[2]][-10:]
    assert len(last) == 10
    for _, verdict, (from_ms, until_ms) in last:
        assert (verdict.risk, verdict.status) == (Risk.AT_RISK, Status.FALLING_BEHIND)
        assert verdict.members == 1
        assert from_ms <= lost_at_s * 1000 <= until_ms
    assert seen_lost_s - lost_at_s < 5


def test_a_collector_that_is_new_takes_up_what_others_sampled(spec, gateway):
    """Another process took ten minutes of samples: the first one here is judged by them all."""
    ensure_topic(gateway)
    publisher = TelemetryPublisher(spec)
    now_ms = time.time_ns() // 1_000_000
    sampler = Sampler()
    end = gateway.offsets({ORDERS: EARLIEST})[ORDERS].offset
    commit(gateway, end)
    rows = []
    for ago_s in range(600, 0, -60):
        sampler.now_ms = lambda ago_s=ago_s: now_ms - ago_s * 1000
        rows = records("kc_live", sampler.sample(gateway, budget_s=20))
        publisher.publish(encoded(rows))
    publisher.close()
    sampler.now_ms = lambda: now_ms
    rows = records("kc_live", sampler.sample(gateway, budget_s=20))
    began = datetime.fromtimestamp(now_ms / 1000, tz=UTC)
    first = {"began": began, "before": None}
    after_others = {"began": began, "before": began - timedelta(seconds=60)}
    alone = Judge(cluster_id="kc_live").see(spec, rows, **first)
    assert {verdict.status for verdict in alone if verdict.topic == "orders"} <= {
        Status.UNKNOWN,
        Status.DATA_LOST,
    }
    (taken_up,) = [
        verdict
        for verdict in Judge(cluster_id="kc_live").see(spec, rows, **after_others)
        if verdict.topic == "orders"
    ]
    assert taken_up.trend_records_per_s is not None
    assert taken_up.status not in {Status.UNKNOWN, Status.NO_COMMIT}
    # Of another cluster's name nothing is believed.
    (foreign,) = [
        verdict
        for verdict in Judge(cluster_id="kc_other").see(
            spec, [row | {"cluster_id": "kc_other"} for row in rows], **after_others
        )
        if verdict.topic == "orders"
    ]
    assert foreign.trend_records_per_s is None
