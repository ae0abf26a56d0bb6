"""kafka-transactions on an open and on a hanging transaction, kafka-delegation-tokens, kafka-features."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer

from dataplane.model.errors import ErrorCode as E
from dataplane.wire.messages.init_producer_id import InitProducerIdRequest
from dataplane.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from dataplane.wire.record_batch import NewRecord, build_batch
from tests.conformance.conftest import scram_properties
from tests.conformance.java_tools import ClusterTools
from tests.conformance.raw_client import ask, connected
from tests.local_cluster import LocalCluster, eventually

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]

TRANSACTIONS = "kafka-transactions"


@pytest.fixture
def opened(tool: ClusterTools, cluster: LocalCluster, topic: str) -> Iterator[str]:
    """A topic whose records 0 to 4 are committed and 5 to 9 of an open transaction of its name."""
    tool("kafka-topics", "--create", "--topic", topic, "--replication-factor", "3").ok()
    committed = Producer({"bootstrap.servers": cluster.bootstrap})
    producer = Producer({"bootstrap.servers": cluster.bootstrap, "transactional.id": topic})
    producer.init_transactions(30)
    for number in range(5):
        committed.produce(topic, f"kept {number}")
    assert committed.flush(20) == 0
    producer.begin_transaction()
    for number in range(5):
        producer.produce(topic, f"open {number}")
    assert producer.flush(20) == 0
    yield topic
    del producer


def producers(tool: ClusterTools, topic: str) -> list[dict[str, str]]:
    where = ("--topic", topic, "--partition", "0")
    return tool(TRANSACTIONS, "describe-producers", *where).table()


def test_an_open_transaction_is_shown_everywhere(tool: ClusterTools, opened: str) -> None:
    rows = {row["TransactionalId"]: row for row in tool(TRANSACTIONS, "list").table()}
    assert rows[opened]["TransactionState"] == "Ongoing"
    old = tool(TRANSACTIONS, "list", "--duration-filter", "3600000").table()
    assert opened not in {row["TransactionalId"] for row in old}
    (found,) = tool(TRANSACTIONS, "describe", "--transactional-id", opened).table()
    assert found["TransactionState"] == "Ongoing"
    assert found["ProducerId"] == rows[opened]["ProducerId"]
    assert found["TopicPartitions"] == f"{opened}-0"
    (state,) = producers(tool, opened)
    assert state["ProducerId"] == found["ProducerId"]
    assert state["CurrentTransactionStartOffset"] == "5"


def test_a_transaction_that_its_coordinator_knows_does_not_hang(
    tool: ClusterTools, opened: str
) -> None:
    given = ("--topic", opened, "--max-transaction-timeout", "0")
    assert opened not in tool(TRANSACTIONS, "find-hanging", *given).ok()
    tool(TRANSACTIONS, "find-hanging", "--broker", "1").ok()


def test_a_transaction_is_aborted_by_its_start_offset(tool: ClusterTools, opened: str) -> None:
    where = ("--topic", opened, "--partition", "0")
    tool(TRANSACTIONS, "abort", *where, "--start-offset", "3").refused("Could not find any open")
    tool(TRANSACTIONS, "abort", *where, "--start-offset", "5").ok()
    (state,) = producers(tool, opened)
    assert state["CurrentTransactionStartOffset"] == "None"
    given = ["--topic", opened, "--from-beginning", "--max-messages", "5"]
    committed = tool(
        *("kafka-console-consumer", *given, "--isolation-level", "read_committed"),
        *("--timeout-ms", "20000"),
    ).ok()
    assert committed.splitlines() == [f"kept {number}" for number in range(5)]


@pytest.fixture
def hanging(tool: ClusterTools, cluster: LocalCluster, topic: str) -> Iterator[str]:
    """A topic with a transaction that no coordinator knows, as brokers before KIP-890 could be left with."""
    brokers = ("--entity-type", "brokers", "--entity-default")
    key = "transaction.partition.verification.enable"
    tool("kafka-topics", "--create", "--topic", topic, "--replica-assignment", "0:1:2").ok()
    tool("kafka-configs", "--alter", *brokers, "--add-config", f"{key}=false").ok()
    try:
        for _ in eventually(10, "the leader takes it unverified"):
            if write_unannounced(cluster, topic) == E.NONE:
                break
        yield topic
    finally:
        tool("kafka-configs", "--alter", *brokers, "--delete-config", key).ok()


def write_unannounced(cluster: LocalCluster, topic: str) -> int:
    """One transactional batch to broker 0 without AddPartitionsToTxn; the answer's error."""
    with connected(cluster) as sock:
        made = ask(
            sock, InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000), 4
        )
        batch = build_batch(
            [NewRecord(None, b"hangs", (), int(time.time() * 1000))],
            producer_id=made.producer_id,
            producer_epoch=made.producer_epoch,
            base_sequence=0,
            is_transactional=True,
        )
        data = TopicProduceData(
            name=topic, partition_data=[PartitionProduceData(index=0, records=bytes(batch))]
        )
        request = ProduceRequest(
            transactional_id=f"id-{topic}", acks=-1, timeout_ms=10_000, topic_data=[data]
        )
        answer = ask(sock, request, 9)
    return int(answer.responses[0].partition_responses[0].error_code)


def test_a_hanging_transaction_is_found_and_aborted(tool: ClusterTools, hanging: str) -> None:
    given = ("--topic", hanging, "--max-transaction-timeout", "0")
    for _ in eventually(10, "it is found"):
        rows = tool(TRANSACTIONS, "find-hanging", *given).table()
        if rows:
            break
    assert (rows[0]["Topic"], rows[0]["Partition"], rows[0]["StartOffset"]) == (hanging, "0", "0")
    where = ("--topic", hanging, "--partition", "0", "--start-offset", "0")
    tool(TRANSACTIONS, "abort", *where).ok()
    assert tool(TRANSACTIONS, "find-hanging", *given).table() == []


def test_tokens_are_made_described_renewed_and_expired(
    sasl_tool: Callable[[str], ClusterTools], tmp_path_factory: pytest.TempPathFactory
) -> None:
    admin = sasl_tool("admin")
    made = admin(
        *("kafka-delegation-tokens", "--create", "--max-life-time-period", "-1"),
        *("--renewer-principal", "User:renewer"),
    ).ok()
    token_id = re.search(r"tokenId : (\S+)", made)
    assert token_id is not None, made
    row = next(line for line in made.splitlines() if line.startswith(token_id[1]))
    secret = row.split()[1]
    # Without an owner the tool asks for the tokens of nobody.
    described = ("kafka-delegation-tokens", "--describe", "--owner-principal", "User:admin")
    for _ in eventually(10, "it is described"):
        if token_id[1] in admin(*described).ok():
            break
    path = tmp_path_factory.mktemp("token") / "token.properties"
    path.write_text(scram_properties(token_id[1], secret).replace('";', '" tokenauth="true";'))
    by_token = ClusterTools(admin._tools, admin.bootstrap, path)  # noqa: SLF001
    for _ in eventually(10, "every broker takes it"):
        if by_token("kafka-topics", "--list").status == 0:
            break
    by_token("kafka-delegation-tokens", "--create", "--max-life-time-period", "-1").refused(
        "UnsupportedByAuthenticationException"
    )
    hmac = ("--hmac", secret)
    renewed = admin("kafka-delegation-tokens", "--renew", "--renew-time-period", "60000", *hmac)
    assert "Completed renew operation" in renewed.ok()
    ended = admin("kafka-delegation-tokens", "--expire", "--expiry-time-period", "-1", *hmac)
    assert "Completed expire operation" in ended.ok()
    for _ in eventually(10, "it is gone"):
        if token_id[1] not in admin(*described).ok():
            break


def test_features_are_described(tool: ClusterTools) -> None:
    # As in Kafka 3.9 with ZooKeeper there are none; the tool lists what there is.
    found = tool.bare("kafka-features", "--bootstrap-server", tool.bootstrap, "describe")
    assert "Feature:" not in found.ok()


UPGRADE = ("upgrade", "--feature", "metadata.version=20")
DOWNGRADE = ("downgrade", "--feature", "metadata.version=7")


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)], ids=["update", "dry run"])
@pytest.mark.parametrize(
    ("update", "reason"),
    [
        (UPGRADE, "The feature is not supported."),
        (DOWNGRADE, "The feature is not supported."),
        ((*DOWNGRADE, "--unsafe"), "The feature is not supported."),
        (("disable", "--feature", "no.such"), "no such finalized feature"),
        (("disable", "--feature", "no.such", "--unsafe"), "no such finalized feature"),
        (("upgrade", "--feature", "one=1", "--feature", "two=2"), "The feature is not supported."),
    ],
    ids=["upgrade", "downgrade", "unsafe downgrade", "disable", "unsafe disable", "two"],
)
def test_a_feature_cannot_be_updated(
    tool: ClusterTools, update: tuple[str, ...], reason: str, dry_run: tuple[str, ...]
) -> None:
    where = ("--bootstrap-server", tool.bootstrap)
    answered = tool.bare("kafka-features", *where, *update, *dry_run)
    answered.refused(reason)
    for name in (each.partition("=")[0] for each in update if each[0] != "-" and "." in each):
        assert name in answered.out + answered.err, "which one"
    described = tool.bare("kafka-features", *where, "describe")
    assert "Feature:" not in described.ok(), "nothing was changed"
