"""Spark's own Kafka source and sink: streams with a checkpoint, batches by offsets, read_committed."""

from __future__ import annotations

import collections
import contextlib
import json
import pathlib
import subprocess
import sys
import time
import uuid
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from spark_analytics.io.jars import jar_paths
from tests.local_cluster import ROOT, LocalCluster, eventually

pytestmark = [pytest.mark.conformance, pytest.mark.cluster, pytest.mark.spark]

PROGRAM = pathlib.Path(__file__).with_name("spark_program.py")
PARTITIONS = 3
JOB_TIMEOUT_S = 150.0


class Spark:
    """Jobs on one cluster, each a process of its own: one of them is killed."""

    def __init__(self, cluster: LocalCluster, directory: pathlib.Path) -> None:
        self.cluster = cluster
        self.directory = directory

    def start(self, job: str, source: str, sink: str = "", **more: Any) -> subprocess.Popen[str]:
        options = {
            "subscribe": source,
            "startingOffsets": "earliest",
            "kafka.bootstrap.servers": self.cluster.bootstrap,
        }
        settings = {
            "job": job,
            "jars": [str(path) for path in jar_paths(ROOT / "build" / "jars")],
            "options": options | more.pop("options", {}),
            "sink": {"kafka.bootstrap.servers": self.cluster.bootstrap, "topic": sink},
            "checkpoint": str(self.directory / "checkpoint"),
            "ends": True,
            **more,
        }
        path = self.directory / f"{uuid.uuid4().hex}.json"
        path.write_text(json.dumps(settings))
        # Nobody reads what a stream without an end says until it has ended.
        self.log = path.with_suffix(".log")
        return subprocess.Popen(
            [sys.executable, str(PROGRAM), str(path)],
            stdout=subprocess.PIPE,
            stderr=self.log.open("w"),
            text=True,
            cwd=ROOT,
            # Spark is a process below this one, and goes with it.
            start_new_session=True,
        )

    def run(self, job: str, source: str, sink: str = "", **more: Any) -> Any:
        process = self.start(job, source, sink, **more)
        out, _ = process.communicate(timeout=JOB_TIMEOUT_S)
        assert process.returncode == 0, self.log.read_text()[-3000:]
        return json.loads(out.splitlines()[-1])["answer"]


@pytest.fixture
def spark(cluster: LocalCluster, tmp_path: pathlib.Path) -> Spark:
    return Spark(cluster, tmp_path)


def create(cluster: LocalCluster, *topics: str) -> None:
    client = AdminClient({"bootstrap.servers": cluster.bootstrap})
    wanted = [NewTopic(topic, PARTITIONS, 3) for topic in topics]
    for made in client.create_topics(wanted).values():
        made.result(20)


def send(cluster: LocalCluster, topic: str, values: list[str], **config: Any) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap, **config})
    for number, value in enumerate(values):
        producer.produce(topic, value, key=value, partition=number % PARTITIONS)
    assert producer.flush(30) == 0


def read(cluster: LocalCluster, topic: str) -> list[tuple[str, str]]:
    """Value and origin of every record there is."""
    reader = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": "unused",
            "auto.offset.reset": "earliest",
        }
    )
    with contextlib.closing(reader):
        partitions = [TopicPartition(topic, number, 0) for number in range(PARTITIONS)]
        total = sum(reader.get_watermark_offsets(each, 10)[1] for each in partitions)
        reader.assign(partitions)
        found: list[tuple[str, str]] = []
        ends = time.monotonic() + 30
        while len(found) < total and time.monotonic() < ends:
            message = reader.poll(0.5)
            if message is not None and not message.error():
                found.append((message.value().decode(), dict(message.headers())["origin"].decode()))
    assert len(found) == total
    return found


def values(label: str, count: int = 90) -> list[str]:
    return [f"{label}-{number}" for number in range(count)]


def test_a_stream_goes_on_from_its_checkpoint(
    cluster: LocalCluster, spark: Spark, topic: str
) -> None:
    target = f"{topic}-out"
    create(cluster, topic, target)
    send(cluster, topic, values("a"))
    # Small micro-batches: several commits to the checkpoint in one run.
    options = {"options": {"maxOffsetsPerTrigger": "20"}}
    assert spark.run("stream", topic, target, **options) == 90
    send(cluster, topic, values("b", 30))
    assert spark.run("stream", topic, target, **options) == 30
    found = read(cluster, target)
    assert sorted(value for value, _ in found) == sorted(
        v.upper() for v in values("a") + values("b", 30)
    )
    assert len({origin for _, origin in found}) == 120


def test_a_killed_stream_loses_nothing(cluster: LocalCluster, spark: Spark, topic: str) -> None:
    target = f"{topic}-out"
    create(cluster, topic, target)
    options = {"options": {"maxOffsetsPerTrigger": "50"}}
    send(cluster, topic, values("k", 3000))
    running = spark.start("stream", topic, target, ends=False, **options)
    try:
        for _ in eventually(90, "some are written"):
            assert running.poll() is None, spark.log.read_text()[-3000:]
            if len(read(cluster, target)) > 100:
                break
    finally:
        kill_session(running)
    assert len({origin for _, origin in read(cluster, target)}) < 3000, "it was killed half-way"
    spark.run("stream", topic, target, options={"maxOffsetsPerTrigger": "1000"})
    origins = collections.Counter(origin for _, origin in read(cluster, target))
    assert len(origins) == 3000
    # The sink is at-least-once: what the killed micro-batch had written may be there again, once.
    assert max(origins.values()) <= 2
    assert sum(count == 2 for count in origins.values()) <= 50


def kill_session(process: subprocess.Popen[str]) -> None:
    """SIGKILL to Spark and to the program: they are a session of their own."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[3]) == process.pid:
                subprocess.run(["kill", "-9", stat.parent.name], check=False)
    process.communicate()


def test_batches_by_offsets(cluster: LocalCluster, spark: Spark, topic: str) -> None:
    create(cluster, topic)
    send(cluster, topic, values("b"))
    begin = json.dumps({topic: {"0": 5, "1": -2, "2": 28}})
    end = json.dumps({topic: {"0": 10, "1": 3, "2": -1}})
    found = spark.run("batch", topic, options={"startingOffsets": begin, "endingOffsets": end})
    chosen = (
        [(0, n) for n in range(5, 10)] + [(1, n) for n in range(3)] + [(2, n) for n in (28, 29)]
    )
    assert found == [[part, offset, f"b-{offset * PARTITIONS + part}"] for part, offset in chosen]


def test_a_batch_is_written(cluster: LocalCluster, spark: Spark, topic: str) -> None:
    target = f"{topic}-out"
    create(cluster, topic, target)
    send(cluster, topic, values("w"))
    time.sleep(0.01)
    middle_ms = int(time.time() * 1000)
    time.sleep(0.01)
    send(cluster, topic, values("later", 30))
    options = {"startingTimestamp": str(middle_ms)}
    assert spark.run("write", topic, target, options=options) == 30
    assert sorted(value for value, _ in read(cluster, target)) == sorted(
        v.upper() for v in values("later", 30)
    )


def test_only_what_is_committed_is_read(cluster: LocalCluster, spark: Spark, topic: str) -> None:
    create(cluster, topic)
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    for label, commit in (("kept", True), ("dropped", False), ("last", True)):
        producer.begin_transaction()
        for number, value in enumerate(values(label, 30)):
            producer.produce(topic, value, partition=number % PARTITIONS)
        producer.flush(20)
        (producer.commit_transaction if commit else producer.abort_transaction)(30)
    for level, labels in (
        ("read_committed", ("kept", "last")),
        ("read_uncommitted", ("kept", "dropped", "last")),
    ):
        found = spark.run("batch", topic, options={"kafka.isolation.level": level})
        expected = [value for label in labels for value in values(label, 30)]
        assert sorted(row[2] for row in found) == sorted(expected), level
