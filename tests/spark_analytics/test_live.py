"""The whole way on real parts: collector → our brokers → Spark → gold, compared with the brokers.

A Spark run costs seconds, so one story serves every question: a run is killed with SIGKILL when
its batch's offsets are noted, the next one when the batch stands in bronze, one more when silver is
written, and the last reads all of it, beside a cluster that is away and records that nobody can
read.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from confluent_kafka import Producer

from controlplane.analytics.check import Claim, Verdict, compare, live_records
from controlplane.analytics.chunks import encoded
from controlplane.analytics.sampler import Sampler
from controlplane.analytics.slices import records
from controlplane.analytics.telemetry import TelemetryPublisher, ensure_topic, records_since
from controlplane.gateway.connection_spec import ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.kafka import KafkaGateway
from controlplane.gateway.types import EARLIEST, LATEST, TP, CommittedOffset, NewTopic
from spark_analytics.contracts.gold import GOLD_TABLES
from spark_analytics.contracts.rules import Rules
from spark_analytics.contracts.runs import ClusterInput, RunConfig, RunResult
from spark_analytics.contracts.telemetry import (
    CHUNK_BYTES_MAX,
    TELEMETRY_PARTITIONS,
    TELEMETRY_TOPIC,
)
from spark_analytics.io.tables import BRONZE, SILVER_TOPIC
from tests.local_cluster import ROOT, eventually, local_cluster
from tests.spark_analytics.lakes import jars_dir, lake_in

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.timeout(900)]
CLUSTER_ID = "kc_live"
AWAY_AT = "127.0.0.1:1"
AWAY = ClusterInput(cluster_id="kc_away", bootstrap_servers=AWAY_AT)
WINDOW_MS = Rules().window_s * 1000
# No name service knows it: the JVM has its address from the run's configuration or not at all.
NAMED = "broker.invalid"
HUGE_PARTITIONS = 30_000


def huge_slice(ts_ms):
    """Of a topic of so many partitions that no record holds it: what is said of it and of a group."""
    return [
        {
            "v": 1,
            "ts_ms": ts_ms,
            "cluster_id": CLUSTER_ID,
            "topic": "huge",
            "partition": list(range(HUGE_PARTITIONS)),
            "log_start_offset": [10**9] * HUGE_PARTITIONS,
            "log_end_offset": [10**9 + 5] * HUGE_PARTITIONS,
            **of_kind,
        }
        for of_kind in (
            {
                "kind": "topic",
                "retention_ms": 3_600_000,
                "retention_bytes": -1,
                "leader_epoch": [3] * HUGE_PARTITIONS,
                "size_bytes": [10**6] * HUGE_PARTITIONS,
                "oldest_ts_ms": [ts_ms - 1000] * HUGE_PARTITIONS,
            },
            {
                "kind": "group",
                "group": "reads-huge",
                "state": "Stable",
                "members": 3,
                "committed_offset": [10**9 + 3] * HUGE_PARTITIONS,
            },
        )
    ]


@pytest.fixture(scope="module")
def live(tmp_path_factory):
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
            spec=spec,
            publisher=TelemetryPublisher(spec),
            sampler=Sampler(),
            root=root,
            jars_dir=jars_dir(),
            runs=0,
        )
        yield made
        made.publisher.close()
        gateway.close()


def collect(live, *, ago_ms=0, bytes_max=CHUNK_BYTES_MAX):
    """One sample; `ago_ms` dates it back, into another window than the next one."""
    live.sampler.now_ms = lambda: time.time_ns() // 1_000_000 - ago_ms
    sample = live.sampler.sample(live.gateway, budget_s=30)
    live.publisher.publish(encoded(records(CLUSTER_ID, sample), bytes_max=bytes_max))
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


def configured(live, *, offsets_end=None, until_ms=None, others=()):
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
            *others,
            ClusterInput(
                cluster_id=CLUSTER_ID,
                bootstrap_servers=live.bootstrap.replace("127.0.0.1", NAMED),
                hosts={NAMED: ["127.0.0.1"]},
                offsets_end=offsets_end,
                telemetry_topic_id=telemetry_topic_id(live),
            ),
        ),
        jars_dir=str(live.jars_dir),
    )
    (work / "config.json").write_text(config.to_json())
    return work


def telemetry_topic_id(live):
    return live.gateway.describe_topics([TELEMETRY_TOPIC])[TELEMETRY_TOPIC].topic_id


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
    return [json.loads(line) for line in (work / f"{table}.jsonl").read_text().splitlines()]


def newest(rows):
    return max(rows, key=lambda row: row["ts_ms"])


def bronze_offsets(spark, live):
    """(telemetry partition, offset) of every bronze row."""
    rows = lake_in(spark, live.root / "lake").read(BRONZE)
    return sorted(map(tuple, rows.select("kafka_partition", "kafka_offset").collect()))


def is_written(live, table):
    """Whether anything was ever committed to it."""
    versions = (live.root / "lake/tables" / table.name.replace(".", "/")).glob("metadata/v*.json")
    found = [json.loads(version.read_text() or "{}") for version in versions]
    return any(version.get("snapshots") for version in found)


def is_in(live, step):
    """Whether the newest run has come to this (phase, tables done)."""
    try:
        lines = (live.root / f"run-{live.runs}" / "progress.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
    except (OSError, ValueError):
        return False
    return step in {(row["phase"], row["done"]) for row in rows}


def forget_that_the_batch_is_done(live):
    """As if the run had been killed between Iceberg's commit and Spark's note of it."""
    for note in (live.root / "lake/streams").glob("*/*/commits/*"):
        note.unlink()


def telemetry_offsets(live):
    tps = [TP(TELEMETRY_TOPIC, p) for p in range(TELEMETRY_PARTITIONS)]
    ends = live.gateway.offsets(dict.fromkeys(tps, LATEST))
    return sorted((tp.partition, offset) for tp in tps for offset in range(ends[tp].offset))


def killed_when(live, exists, **options):
    """A run that got SIGKILL the moment `exists()` first held."""
    process = started(configured(live, **options))
    try:
        for _ in eventually(120, "the run gets to where it is to be killed"):
            if exists():
                break
            assert process.poll() is None, "the run ended before it was killed"
    finally:
        kill_group(process)


@pytest.fixture(scope="module")
def story(live, spark):
    """What was there, what was done, and what the run that went through said."""
    forget_that_slices_may_be_cut(spark, live)
    before = collect(live, ago_ms=2 * WINDOW_MS)
    produce(live, 3000)
    tps = [TP("orders", p) for p in range(3)]
    commit(live, "slow", {tps[0]: 1000, tps[1]: 250, tps[2]: 0})
    commit(live, "done", dict.fromkeys(tps, 1000))
    # A partition a chunk; then a collector that is killed in the middle of each slice.
    after = collect(live, bytes_max=1)
    publish_in_part(live)
    huge = huge_slice(time.time_ns() // 1_000_000)
    live.publisher.publish(encoded(huge))
    send_garbage(live)
    lake = live.root / "lake"
    killed_when(live, lambda: list((lake / "streams").glob("*/*/offsets/0")))
    assert bronze_offsets(spark, live) == []
    killed_when(live, lambda: is_written(live, BRONZE))
    forget_that_the_batch_is_done(live)
    killed_when(live, lambda: is_written(live, SILVER_TOPIC))
    work, result = run(live, others=(AWAY,))
    # What is sampled from here on is of later windows, and new to no run of these.
    until_ms = RunConfig.from_json((work / "config.json").read_text()).to_ts_ms
    for _ in eventually(2 * WINDOW_MS / 1000, "the windows of the run are over"):
        if time.time_ns() // 1_000_000 > until_ms:
            break
    return SimpleNamespace(before=before, after=after, huge=huge, tps=tps, work=work, result=result)


def forget_that_slices_may_be_cut(spark, live):
    """The lake is one of before: its bronze has no such columns, and gets them at the end."""
    lake = lake_in(spark, live.root / "lake")
    lake.spark.sql(f"ALTER TABLE {BRONZE.path} DROP COLUMNS chunk, chunks")


def publish_in_part(live):
    """A sample of which every slice of `orders` lacks its last chunk."""
    live.sampler.now_ms = lambda: time.time_ns() // 1_000_000
    sample = live.sampler.sample(live.gateway, budget_s=30)
    rows = [row for row in records(CLUSTER_ID, sample) if row["topic"] == "orders"]
    assert len(rows) == 3
    for row in rows:
        live.publisher.publish(encoded([row], bytes_max=1)[:-1])


def send_garbage(live):
    producer = Producer({"bootstrap.servers": live.bootstrap, "acks": "all"})
    for value in (b"{not json", b"\xff\xfe", None):
        producer.produce(TELEMETRY_TOPIC, value)
    assert producer.flush(30) == 0


def of(story, table, **wanted):
    """The newest row of those."""
    rows = gold(story.work, table)
    return newest([row for row in rows if all(row[key] == wanted[key] for key in wanted)])


def test_runs_killed_anywhere_count_nothing_twice(live, story, spark):
    assert bronze_offsets(spark, live) == telemetry_offsets(live)
    assert story.result.clusters[1].offsets_end == {
        str(partition): offset + 1 for partition, offset in telemetry_offsets(live)
    }


def test_records_that_nobody_can_read_are_counted_and_stop_nothing(story):
    mine = story.result.clusters[1]
    assert (mine.error, mine.records_rejected) == (None, 3)
    assert mine.records_in > 0


def test_a_cluster_that_is_away_does_not_hold_up_the_others(story):
    assert story.result.clusters[0].cluster_id == AWAY.cluster_id
    assert story.result.clusters[0].error == f"no broker accepts a connection at {AWAY_AT}"
    assert {row["cluster_id"] for row in gold(story.work, "topic_retention")} == {CLUSTER_ID}


def test_a_result_says_where_the_seconds_went(story):
    assert story.result.phases_s.keys() >= {"session", "ingest", "silver", "gold"}
    assert sum(story.result.phases_s.values()) == pytest.approx(story.result.wall_s, rel=0.1)


def test_lag_is_what_the_groups_offsets_say(live, story):
    tps = story.tps
    ends = live.gateway.offsets(dict.fromkeys(tps, LATEST))
    offsets = live.gateway.group_offsets(["slow"])["slow"]
    lag = of(story, "group_lag", group="slow")
    assert lag["lag_records"] == sum(ends[tp].offset - offsets[tp].offset for tp in tps) == 1750
    # The oldest unread record came between the two samples, and its timestamp says when.
    (first,) = live.gateway.offsets({tps[2]: 0}).values()
    assert story.before.ts_ms < first.timestamp_ms < story.after.ts_ms
    # Partition 1 is inside the history: no exact timestamp, but it lies in the same bracket.
    assert lag["method"] in {"exact", "interpolated"}
    exact_s = (story.after.ts_ms - first.timestamp_ms) / 1000
    assert exact_s <= lag["lag_seconds"] <= (story.after.ts_ms - story.before.ts_ms) / 1000
    done = of(story, "group_lag", group="done")
    assert (done["lag_records"], done["lag_seconds"], done["method"]) == (0, 0, "caught_up")


def test_a_slice_that_no_record_holds_arrives_whole(live, story):
    """In the collector that catches up and in Spark; in one record the broker refuses it."""
    (uncut,) = encoded(story.huge[:1], bytes_max=10**9)
    refusals = []
    producer = Producer(
        {"bootstrap.servers": live.bootstrap, "acks": "all", "message.max.bytes": 10**8}
    )
    producer.produce(
        TELEMETRY_TOPIC, uncut.value, on_delivery=lambda error, _: refusals.append(error.name())
    )
    assert producer.flush(30) == 0
    assert refusals == ["MSG_SIZE_TOO_LARGE"]
    assert len(encoded(story.huge)) > len(story.huge)

    read = records_since(live.spec, story.huge[0]["ts_ms"])
    mine = [one for one in read.values() if one["topic"] == "huge"]
    assert sorted(mine, key=lambda one: one["kind"], reverse=True) == story.huge
    held = of(story, "topic_retention", topic="huge")
    assert (held["partitions"], held["records"]) == (HUGE_PARTITIONS, 5 * HUGE_PARTITIONS)
    assert of(story, "group_lag", group="reads-huge")["lag_records"] == 2 * HUGE_PARTITIONS


def test_a_sample_that_was_published_in_part_is_not_used(live, story):
    """By nobody: what catches up reads the one before it, and so does Spark."""
    read = records_since(live.spec, story.after.ts_ms)
    orders = [one for (key, _), one in read.items() if key[1] == "orders"]
    assert {one["ts_ms"] for one in orders} == {story.after.ts_ms}
    assert {len(one["partition"]) for one in orders} == {3}
    lags = [row for row in gold(story.work, "group_lag") if row["topic"] == "orders"]
    assert max(row["sampled_ms"] for row in lags) == story.after.ts_ms


def test_retention_is_what_the_log_directories_say(live, story):
    sizes = {size.tp: size.size_bytes for size in live.gateway.log_dirs(["orders"])}
    held = of(story, "topic_retention", topic="orders")
    assert held["bytes"] == sum(sizes.values()) > 300_000
    assert held["records"] == 3000
    starts = live.gateway.offsets(dict.fromkeys(story.tps, EARLIEST))
    assert [at.offset for at in starts.values()] == [0] * len(story.tps)
    expiry = of(story, "group_expiry", group="slow")
    left_s = held["retention_ms"] / 1000 - of(story, "group_lag", group="slow")["lag_seconds"]
    assert expiry["oldest_unread_expires_in_s"] == pytest.approx(left_s, abs=0.01)
    assert expiry["status"] == "SAFE"


def test_gold_is_traced_to_its_telemetry_and_to_the_quiet_brokers(live, story):
    numbers = {"group_lag": "lag_records", "topic_retention": "bytes"}
    claims = [
        Claim(
            key=("group" if "group" in row else "topic", "orders", row.get("group", "")),
            sampled_ms=row["sampled_ms"],
            value=row[number],
        )
        for table, number in numbers.items()
        for row in gold(story.work, table)
        if row["topic"] == "orders" and row["sampled_ms"] == story.after.ts_ms
    ]
    assert len(claims) == 3
    recorded = records_since(live.spec, story.after.ts_ms)
    now = live_records(CLUSTER_ID, Sampler().sample(live.gateway, budget_s=30))
    lines = compare(claims, recorded, now, quiesced=True)
    assert [line.verdict for line in lines] == [Verdict.EQUAL] * 3
    assert all(line.claim.value == line.recorded == line.live for line in lines)
    off_by_one = [dataclasses.replace(claim, value=(claim.value or 0) + 1) for claim in claims]
    wrong = compare(off_by_one, recorded, now, quiesced=False)
    assert {line.verdict for line in wrong} == {Verdict.DIFFERENT}


def test_the_same_input_gives_the_same_bytes(live, story):
    collect(live)
    config = RunConfig.from_json((story.work / "config.json").read_text())
    ends = story.result.clusters[1].offsets_end
    again, _ = run(live, offsets_end=ends, until_ms=config.to_ts_ms)
    for table in GOLD_TABLES:
        written = (again / f"{table}.jsonl").read_bytes()
        assert written == (story.work / f"{table}.jsonl").read_bytes() != b""


@pytest.mark.parametrize("step", [("gold", 0), ("gold", 2), ("tidy", 0)], ids=str)
def test_a_run_that_is_killed_after_silver_is_simply_run_again(live, story, spark, step):
    collect(live)
    until_ms = RunConfig.from_json((story.work / "config.json").read_text()).to_ts_ms
    killed_when(live, functools.partial(is_in, live, step), until_ms=until_ms)
    assert not (live.root / f"run-{live.runs}" / "result.json").exists()
    again, result = run(live, until_ms=until_ms)
    assert result.ok
    # What the killed one took in is in silver, and new to nobody.
    assert result.clusters[0].records_in == 0
    assert bronze_offsets(spark, live) == telemetry_offsets(live)
    for table in GOLD_TABLES:
        written = (again / f"{table}.jsonl").read_bytes()
        assert written == (story.work / f"{table}.jsonl").read_bytes() != b""


def test_a_telemetry_topic_that_was_made_again_is_read_from_its_beginning(live, story, spark):
    """Its offsets are smaller than those that the runs before came to. Runs last: no test after it
    finds the topic of the story.
    """
    old = telemetry_topic_id(live)
    before = bronze_offsets(spark, live)
    live.gateway.delete_topic(TELEMETRY_TOPIC)
    for _ in eventually(30, "the topic is gone"):
        if TELEMETRY_TOPIC not in live.gateway.describe_topics([TELEMETRY_TOPIC]):
            break
    ensure_topic(live.gateway)
    assert telemetry_topic_id(live) != old
    live.publisher.close()
    live.publisher = TelemetryPublisher(live.spec)
    collect(live)
    fresh = telemetry_offsets(live)
    assert fresh
    assert len(fresh) < len(before)

    _, result = run(live)
    (mine,) = result.clusters
    assert (mine.error, mine.telemetry_recreated, mine.records_skipped) == (None, True, 0)
    assert bronze_offsets(spark, live) == sorted(before + fresh)
    (checkpoint,) = (live.root / "lake/streams").glob("*/*")
    assert checkpoint.name == f"{CLUSTER_ID}.{telemetry_topic_id(live)}"
    _, result = run(live)
    assert not result.clusters[0].telemetry_recreated
