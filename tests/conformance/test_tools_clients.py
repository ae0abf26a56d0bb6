"""The stock producers and consumers: console, verifiable, performance; transactions; what is offered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from dataplane.wire.apis import API_TABLE
from tests.conformance.java_tools import ClusterTools

pytestmark = [pytest.mark.conformance, pytest.mark.cluster]
CODECS = ["none", "gzip", "snappy", "lz4", "zstd"]


def lines(count: int) -> str:
    return "".join(f"line {number}\n" for number in range(count))


def read(tool: ClusterTools, topic: str, count: int, *options: str) -> list[str]:
    given = ["--topic", topic, "--from-beginning", "--max-messages", str(count)]
    ran = tool("kafka-console-consumer", *given, "--timeout-ms", "30000", *options)
    return ran.ok().splitlines()


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("acks", ["0", "1", "-1"])
def test_console_producer_and_consumer(
    tool: ClusterTools, topic: str, codec: str, acks: str
) -> None:
    tool("kafka-topics", "--create", "--topic", topic, "--replication-factor", "3").ok()
    options = ["--compression-codec", codec, "--request-required-acks", acks]
    tool("kafka-console-producer", "--topic", topic, *options, stdin=lines(50)).ok()
    assert "\n".join(read(tool, topic, 50)) + "\n" == lines(50)


def test_everything_about_a_record_is_shown(tool: ClusterTools, topic: str) -> None:
    tool("kafka-topics", "--create", "--topic", topic).ok()
    tool(
        *("kafka-console-producer", "--topic", topic, "--property", "parse.key=true"),
        *("--property", "parse.headers=true", "--property", "null.marker=NULL"),
        stdin="h1:a,h2:b\tkey\tvalue\nh1:c\tkey\tNULL\n",
    ).ok()
    names = ("timestamp", "key", "headers", "partition", "offset")
    shown = [word for name in names for word in ("--property", f"print.{name}=true")]
    first, second = read(tool, topic, 2, *shown)
    assert re.fullmatch(r"CreateTime:\d{13}\tPartition:0\tOffset:0\th1:a,h2:b\tkey\tvalue", first)
    assert second.endswith("\tOffset:1\th1:c\tkey\tnull")
    given = ["--topic", topic, "--partition", "0", "--offset", "1", "--max-messages", "1"]
    assert tool("kafka-console-consumer", *given, "--timeout-ms", "20000").ok().strip() == "null"


def events(out: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


@pytest.mark.parametrize("acks", ["0", "1", "-1"])
def test_verifiable_producer_and_consumer(
    tool: ClusterTools, topic: str, group: str, acks: str
) -> None:
    tool("kafka-topics", "--create", "--topic", topic, "--partitions", "2").ok()
    sent = events(
        tool.alone(
            *("kafka-verifiable-producer", "--topic", topic, "--max-messages", "100"),
            *("--acks", acks, "--value-prefix", "7"),
        ).ok()
    )
    assert sum(event["name"] == "producer_send_success" for event in sent) == 100
    assert sent[-1] | {"sent": 100, "acked": 100} == sent[-1]
    seen = events(
        tool(
            *("kafka-verifiable-consumer", "--topic", topic, "--group-id", group),
            *("--max-messages", "100", "--reset-policy", "earliest", "--verbose"),
        ).ok()
    )
    values = [str(event["value"]) for event in seen if event["name"] == "record_data"]
    assert sorted(values, key=lambda value: int(value[2:])) == [f"7.{n}" for n in range(100)]
    assert any(event["name"] == "partitions_assigned" for event in seen)
    assert any(event["name"] == "offsets_committed" and event["success"] for event in seen)


def test_performance_tools(tool: ClusterTools, topic: str, group: str) -> None:
    tool("kafka-topics", "--create", "--topic", topic, "--partitions", "2").ok()
    out = tool.bare(
        *("kafka-producer-perf-test", "--topic", topic, "--num-records", "2000"),
        *("--record-size", "100", "--throughput", "-1", "--producer-props"),
        *(f"bootstrap.servers={tool.bootstrap}", "acks=all", "compression.type=lz4"),
    ).ok()
    assert "2000 records sent" in out
    consumed = tool(
        *("kafka-consumer-perf-test", "--topic", topic, "--messages", "2000"),
        *("--group", group, "--timeout", "30000"),
    ).ok()
    assert consumed.splitlines()[-1].split(", ")[4] == "2000"
    latency = tool.bare("kafka-e2e-latency", tool.bootstrap, topic, "20", "all", "50").ok()
    assert "Avg latency" in latency


def test_what_a_broker_offers_is_what_the_table_says(tool: ClusterTools) -> None:
    out = tool("kafka-broker-api-versions").ok()
    assert len(re.findall(r"^127\.0\.0\.1:\d+ \(id: \d rack: \S+\) -> \(", out, re.MULTILINE)) == 3
    first = out.split(") -> (")[1]
    found = {
        int(key): (int(low), int(high or low))
        for key, low, high in re.findall(r"\w+\((\d+)\): (\d+)(?: to (\d+))?", first)
    }
    assert found.keys() == {int(key) for key in API_TABLE}
    for key, (low, high) in found.items():
        spec = next(spec for spec in API_TABLE.values() if spec.key == key)
        assert spec.min_version <= low <= high <= spec.max_version
    cluster_id = tool.bare("kafka-cluster", "cluster-id", "--bootstrap-server", tool.bootstrap)
    assert re.fullmatch(r"Cluster ID: [\w-]{22}\n", cluster_id.out)


def test_a_transaction_is_listed_and_described(
    tool: ClusterTools, offered: Callable[..., None], topic: str
) -> None:
    offered("AddPartitionsToTxn", "ListTransactions", "DescribeTransactions", "DescribeProducers")
    tool("kafka-topics", "--create", "--topic", topic).ok()
    out = tool.bare(
        *("kafka-producer-perf-test", "--topic", topic, "--num-records", "200"),
        *("--record-size", "100", "--throughput", "-1", "--transactional-id", f"id-{topic}"),
        *("--transaction-duration-ms", "50", "--producer-props"),
        f"bootstrap.servers={tool.bootstrap}",
    ).ok()
    assert "200 records sent" in out
    listed = tool("kafka-transactions", "list").ok()
    assert f"id-{topic}" in listed
    described = tool("kafka-transactions", "describe", "--transactional-id", f"id-{topic}").ok()
    assert "CompleteCommit" in described
    producers = tool(
        "kafka-transactions", "describe-producers", "--topic", topic, "--partition", "0"
    ).ok()
    assert len(producers.strip().splitlines()) == 2, producers
    hanging = tool("kafka-transactions", "find-hanging", "--broker", "0").ok()
    assert topic not in hanging
    committed = read(tool, topic, 200, "--isolation-level", "read_committed")
    assert len(committed) == 200
