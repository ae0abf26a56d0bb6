"""A key that brokers read when they start: written for all of them, and rolled broker by broker."""

import itertools
import json

import pytest
from confluent_kafka import KafkaException, TopicPartition

from tests.controlplane.live.conftest import GOVERNED
from tests.controlplane.live.writer import Writer

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.redis,
    pytest.mark.timeout(300),
    pytest.mark.skipif(GOVERNED != "penstock", reason="nobody here writes the files of another's"),
]
KEY, BEFORE, AFTER = "offset.metadata.max.bytes", 4_096, 4_000
"""What a commit may say beside its offset. It stays set: nothing else here commits so much."""
LONG, SHORT = 4_050, 3_950
"""What the one value allows and the other does not, and what both do; librdkafka adds a byte."""
TOPIC = "t.static"


def refusal_of(clients, length):
    """Why a commit may not say so much; None when it may."""
    consumer = clients.consumer("accounts.static")
    offset = TopicPartition(TOPIC, 0, 1, metadata="x" * length)
    try:
        (found,) = consumer.commit(offsets=[offset], asynchronous=False)
        return found.error and found.error.name()
    except KafkaException as error:
        return error.args[0].name()
    finally:
        consumer.close()


def started_as(service):
    """By broker: the process that its agent started, and the settings in its file."""
    homes = (service.directory / "brokers").glob(f"{service.cluster_id}-*")
    return {
        int(home.name.rpartition("-")[2]): (
            json.loads((home / "broker.pid").read_text())["pid"],
            f"{KEY}={AFTER}" in (home / "broker.properties").read_text().splitlines(),
        )
        for home in homes
    }


def test_a_key_that_is_read_at_the_start_is_rolled(service, cluster, clients):
    service.run("topic.create", name=TOPIC, partitions=6, replication_factor=3)
    assert refusal_of(clients, LONG) is None
    before = started_as(service)
    plan = service.plan("cluster.configure", config={KEY: str(AFTER)}, canary_s=0)
    (change,) = plan["diff"]["changes"]
    assert (change["way"], change["before"], change["now"]) == ("static", None, str(BEFORE))
    order = [row["id"] for row in plan["diff"]["brokers"]]
    assert order[-1] == service.get(f"/clusters/{service.cluster_id}")["controller_id"]
    writer = Writer(clients, TOPIC)
    try:
        ended = service.finish(service.confirm(plan))
    finally:
        writer.stop()
    assert ended["state"] == "succeeded", ended
    assert not writer.failures
    assert writer.written > 0

    rows = sorted(ended["outcome"]["roll"]["brokers"], key=lambda row: row["restarted_at"])
    assert {row["id"] for row in rows} == set(before)
    assert all(row["state"] == "done" for row in rows)
    for one, following in itertools.pairwise(rows):
        assert one["in_sync_at"] <= following["restarted_at"], "two were away at once"
    after = started_as(service)
    assert after.keys() == before.keys()
    assert all(is_set for _, is_set in after.values())
    assert all(after[broker][0] != pid for broker, (pid, _) in before.items())
    assert refusal_of(clients, SHORT) is None
    assert refusal_of(clients, LONG) == "OFFSET_METADATA_TOO_LARGE"
