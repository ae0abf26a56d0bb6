"""What lies on disk: Kafka's format, the same bytes on every replica, all there after a restart."""

from __future__ import annotations

import pathlib
import re
import time
import uuid

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from kafka.record.memory_records import MemoryRecords

from dataplane.wire.record_batch import iter_batches, iter_records, validate_crc
from tests.conformance.test_confluent_kafka import consume, create, produce
from tests.local_cluster import LocalCluster, eventually, local_cluster

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]


def segments(cluster: LocalCluster, topic: str, partition: int = 0) -> list[list[pathlib.Path]]:
    """Per broker, the log files of a partition in order."""
    pattern = f"broker-*/**/{topic}-{partition}"
    return [sorted(found.glob("*.log")) for found in sorted(cluster.data_dir.glob(pattern))]


def test_segments_are_kafkas_and_the_same_on_every_replica(
    cluster: LocalCluster, topic: str
) -> None:
    create(cluster.bootstrap, topic, 1, **{"segment.bytes": "6000"})
    for codec in ("none", "gzip", "none"):
        produce(cluster.bootstrap, topic, 300, **{"compression.type": codec})
    for _ in eventually(15, "equal replicas"):
        per_broker = segments(cluster, topic)
        contents = [[path.read_bytes() for path in paths] for paths in per_broker]
        if len(contents) == 3 and contents[0] == contents[1] == contents[2]:
            break
    assert len(per_broker[0]) > 1
    offset = 0
    values = []
    for path in per_broker[0]:
        assert re.fullmatch(r"\d{20}\.log", path.name)
        assert int(path.stem) == offset
        data = path.read_bytes()
        for position, header in iter_batches(data):
            assert validate_crc(data, position, header)
            assert header.base_offset == offset
            offset = header.next_offset
            values += [record.value for record in iter_records(data, position)]
        theirs = MemoryRecords(data)
        while theirs.has_next():
            batch = theirs.next_batch()
            assert batch.validate_crc()
            list(batch)
    assert offset == 900
    assert values == [b"v%d" % n for n in range(300)] * 3
    home = per_broker[0][0].parent
    assert (home / "leader-epoch-checkpoint").read_text().splitlines()[:2] == ["0", "1"]
    assert "topic_id: " in (home / "partition.metadata").read_text()
    assert (home / per_broker[0][0].with_suffix(".index").name).exists()
    assert (home / per_broker[0][0].with_suffix(".timeindex").name).exists()


@pytest.mark.parametrize("cleanly", [True, False])
def test_a_restarted_cluster_has_its_data(tmp_path: pathlib.Path, cleanly: bool) -> None:
    topic, group = f"kept-{uuid.uuid4().hex[:8]}", "kept-group"
    settings = {"offsets.topic.num.partitions": "3"}
    with local_cluster(tmp_path, settings=settings) as cluster:
        admin = create(cluster.bootstrap, topic, 2, **{"retention.ms": "123456789"})
        produce(cluster.bootstrap, topic, 400)
        first = consume(cluster.bootstrap, topic, group, 250)
        if not cleanly:
            for broker_id in range(cluster.brokers):
                cluster.kill_broker(broker_id)
    with local_cluster(tmp_path, settings=settings) as cluster:
        rest = consume(cluster.bootstrap, topic, group, 400 - len(first))
        assert sorted(first + rest) == sorted(f"v{n}" for n in range(400))
        produce(cluster.bootstrap, topic, 10, first=400)
        assert sorted(consume(cluster.bootstrap, topic, group, 10)) == sorted(
            f"v{n}" for n in range(400, 410)
        )
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        assert sorted(admin.list_topics(topic, 10).topics[topic].partitions) == [0, 1]


def test_a_deleted_topic_leaves_the_disk_and_its_name_is_free(
    cluster: LocalCluster, topic: str, group: str
) -> None:
    admin = create(cluster.bootstrap, topic, 1, **{"file.delete.delay.ms": "100"})
    produce(cluster.bootstrap, topic, 5)
    admin.delete_topics([topic])[topic].result(20)
    for _ in eventually(20, "no directory of that name"):
        if not segments(cluster, topic):
            break
    time.sleep(0.2)
    for _ in eventually(20, "the name is free again"):
        failure = admin.create_topics([NewTopic(topic, 1, 3)])[topic].exception(20)
        if failure is None:
            break
        assert "EXISTS" in str(failure)
    produce(cluster.bootstrap, topic, 3, first=100)
    assert consume(cluster.bootstrap, topic, group, 3) == ["v100", "v101", "v102"]
