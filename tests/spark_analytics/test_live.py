"""The whole way on real parts: collector → our brokers → Spark → gold, compared with the brokers.

And exactly once: a run is killed with SIGKILL again and again, in every phase of its ingest, and
bronze still holds each telemetry record once.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from confluent_kafka import Producer

from controlplane.analytics.publisher import KafkaPublisher, ensure_topic
from controlplane.analytics.sampler import Sampler
from controlplane.analytics.slices import slices
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.kafka_link import ConnectionSpec
from controlplane.gateway.types import EARLIEST, LATEST, TP, CommittedOffset, NewTopic
from spark_analytics import contracts
from spark_analytics.contracts import ClusterInput, RunConfig, RunResult
from spark_analytics.io import jars
from tests.local_cluster import ROOT, eventually, local_cluster

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.timeout(900)]
CLUSTER_ID = "kc_live"
WINDOW_MS = contracts.Rules().window_s * 1000


@pytest.fixture(scope="module")
def jars_dir():
    target = pathlib.Path(os.environ.get("PENSTOCK_SPARK_JARS_DIR") or ROOT / "build/jars")
    jars.fetch(target)
    return target


@pytest.fixture(scope="module")
def live(tmp_path_factory, jars_dir):
    """A broker with a topic, a slow group and a finished one, and a collector's way in."""
    root = tmp_path_factory.mktemp("live")
    settings = {"offsets.topic.num.partitions": "2", "offsets.topic.replication.factor": "1"}
    with local_cluster(root / "cluster", brokers=1, settings=settings) as cluster:
        spec = ConnectionSpec(bootstrap_servers=(cluster.bootstrap,), timeout_s=20)
        gateway = KafkaGateway(spec)
        ensure_topic(gateway)
        gateway.create_topic(NewTopic(name="orders", partitions=3, replication_factor=1))
        made = SimpleNamespace(
            bootstrap=cluster.bootstrap,
            gateway=gateway,
            publisher=KafkaPublisher(spec),
            sampler=Sampler(),
            root=root,
            jars_dir=jars_dir,
            runs=0,
        )
        yield made
        made.publisher.close()
        gateway.close()


def collect(live, *, ago_ms=0):
    """One sample; `ago_ms` dates it back, into another window than the next one."""
    live.sampler.now_ms = lambda: time.time_ns() // 1_000_000 - ago_ms
    sample = live.sampler.sample(live.gateway, budget_s=30)
    live.publisher.publish(slices(CLUSTER_ID, sample))
    return sample


def commit(live, group, offsets):
    """As any client does, again while the broker still makes its offsets topic."""
    wanted = {tp: CommittedOffset(offset=offset) for tp, offset in offsets.items()}
    for _ in eventually(30, f"offsets of {group} committed"):
        try:
            live.gateway.commit_group_offsets(group, wanted)
        except GatewayError as error:
            if not error.retriable:
                raise
        else:
            break


def produce(live, count):
    producer = Producer({"bootstrap.servers": live.bootstrap, "acks": "all"})
    for number in range(count):
        producer.produce("orders", b"x" * 100, partition=number % 3)
    assert producer.flush(30) == 0


def configured(live, *, offsets_end=None, until_ms=None):
    live.runs += 1
    work = live.root / f"run-{live.runs}"
    work.mkdir()
    to_ms = until_ms or (time.time_ns() // 1_000_000 // WINDOW_MS + 1) * WINDOW_MS
    config = RunConfig(
        run_id=f"run_{live.runs}",
        master="local[2]",
        data_uri=f"file://{live.root}/lake",
        work_dir=str(work),
        from_ts_ms=to_ms - 20 * WINDOW_MS,
        to_ts_ms=to_ms,
        deadline_s=400,
        clusters=(
            ClusterInput(
                cluster_id=CLUSTER_ID, bootstrap_servers=live.bootstrap, offsets_end=offsets_end
            ),
        ),
        jars_dir=str(live.jars_dir),
    )
    (work / "config.json").write_text(config.to_json())
    return work


def started(work):
    return subprocess.Popen(
        [sys.executable, "-m", "spark_analytics", "run", "--config", str(work / "config.json")],
        cwd=ROOT,
        stdout=(work / "run.log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def run(live, **options):
    work = configured(live, **options)
    process = started(work)
    try:
        assert process.wait(400) == 0, (work / "run.log").read_text()[-3000:]
    finally:
        kill_group(process)
    return work, RunResult.from_json((work / "result.json").read_text())


def kill_group(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def gold(work, table):
    import json

    return [json.loads(line) for line in (work / f"{table}.jsonl").read_text().splitlines()]


def newest(rows):
    return max(rows, key=lambda row: row["ts_ms"])


def bronze_offsets(live):
    """(table, telemetry partition, offset) of every bronze row."""
    import pyarrow.parquet as pq

    found = []
    for file in (live.root / "lake" / "bronze").glob("*/cluster=*/batch=*/dt=*/*.parquet"):
        table = pq.ParquetFile(file).read(["kafka_partition", "kafka_offset"])
        columns = table.to_pydict()
        found += zip(columns["kafka_partition"], columns["kafka_offset"], strict=True)
    return found


def telemetry_offsets(live):
    tps = [TP(contracts.TELEMETRY_TOPIC, p) for p in range(contracts.TELEMETRY_PARTITIONS)]
    ends = live.gateway.offsets(dict.fromkeys(tps, LATEST))
    return sorted((tp.partition, offset) for tp in tps for offset in range(ends[tp].offset))


def test_gold_says_what_the_brokers_say(live):
    before = collect(live, ago_ms=2 * WINDOW_MS)
    produce(live, 3000)
    tps = [TP("orders", p) for p in range(3)]
    committed = {tps[0]: 1000, tps[1]: 250, tps[2]: 0}
    commit(live, "slow", committed)
    commit(live, "done", dict.fromkeys(tps, 1000))
    after = collect(live)
    work, result = run(live)
    assert result.clusters[0].error is None
    assert result.clusters[0].records_rejected == 0

    ends = live.gateway.offsets(dict.fromkeys(tps, LATEST))
    offsets = live.gateway.group_offsets(["slow"])["slow"]
    lag = newest([row for row in gold(work, "group_lag") if row["group"] == "slow"])
    assert lag["lag_records"] == sum(ends[tp].offset - offsets[tp].offset for tp in tps) == 1750
    # The oldest unread record came between the two samples, and its timestamp says when.
    (first,) = live.gateway.offsets({tps[2]: 0}).values()
    assert before.ts_ms < first.timestamp_ms < after.ts_ms
    # Partition 1 is inside the history: no exact timestamp, but it lies in the same bracket.
    assert lag["method"] in {"exact", "interpolated"}
    exact_s = (after.ts_ms - first.timestamp_ms) / 1000
    assert exact_s <= lag["lag_seconds"] <= (after.ts_ms - before.ts_ms) / 1000
    done = newest([row for row in gold(work, "group_lag") if row["group"] == "done"])
    assert (done["lag_records"], done["lag_seconds"], done["method"]) == (0, 0, "caught_up")

    sizes = {size.tp: size.size_bytes for size in live.gateway.log_dirs(["orders"])}
    held = newest([row for row in gold(work, "topic_retention") if row["topic"] == "orders"])
    assert held["bytes"] == sum(sizes.values()) > 300_000
    assert held["records"] == 3000
    starts = live.gateway.offsets(dict.fromkeys(tps, EARLIEST))
    assert all(at.offset == 0 for at in starts.values())
    expiry = newest([row for row in gold(work, "group_expiry") if row["group"] == "slow"])
    left_s = held["retention_ms"] / 1000 - lag["lag_seconds"]
    assert expiry["oldest_unread_expires_in_s"] == pytest.approx(left_s, abs=0.01)
    assert expiry["status"] == "SAFE"


def test_the_same_input_gives_the_same_bytes(live):
    work, result = run(live)
    collect(live)
    config = RunConfig.from_json((work / "config.json").read_text())
    again, _ = run(live, offsets_end=result.clusters[0].offsets_end, until_ms=config.to_ts_ms)
    for table in contracts.GOLD_TABLES:
        assert (again / f"{table}.jsonl").read_bytes() == (work / f"{table}.jsonl").read_bytes()


def test_a_run_killed_anywhere_counts_nothing_twice(live):
    for after_s in (0.0, 1.5, 3.0, 5.0):
        collect(live)
        work = configured(live)
        process = started(work)
        progress = work / "progress.jsonl"
        deadline = time.monotonic() + 120
        while '"ingest"' not in (progress.read_text() if progress.exists() else ""):
            assert time.monotonic() < deadline, "the run did not get to its ingest"
            time.sleep(0.05)
        time.sleep(after_s)
        kill_group(process)
        found = bronze_offsets(live)
        assert len(found) == len(set(found)), "a record stands in bronze twice"
    collect(live)
    run(live)
    assert sorted(bronze_offsets(live)) == telemetry_offsets(live)


def test_a_cluster_that_is_away_does_not_hold_up_the_others(live):
    work = configured(live)
    config = RunConfig.from_json((work / "config.json").read_text())
    away = ClusterInput(cluster_id="kc_away", bootstrap_servers="127.0.0.1:1")
    import dataclasses

    both = dataclasses.replace(config, clusters=(away, *config.clusters))
    (work / "config.json").write_text(both.to_json())
    process = started(work)
    assert process.wait(400) == 0
    result = RunResult.from_json((work / "result.json").read_text())
    assert [cluster.error is None for cluster in result.clusters] == [False, True]
    assert "\n" not in str(result.clusters[0].error)
    assert {row["cluster_id"] for row in gold(work, "topic_retention")} == {CLUSTER_ID}
