"""Kafka's own `kafka.tools.DumpLogSegments` reads every file that a log writes.

Deep iteration decodes every record; the index verifications compare `.index` and `.timeindex` with
the log, entry by entry.
"""

from __future__ import annotations

import dataclasses
import pathlib
import re
import subprocess

import pytest

from dataplane.log.config import LogConfig
from dataplane.log.opening import LogEnvironment
from dataplane.log.partition_log import PartitionLog
from dataplane.model.ids import TopicPartition
from dataplane.ports.fakes.background import InlineBackground
from dataplane.ports.fakes.clock import FakeClock
from dataplane.runtime.os_filesystem import OsFileSystem
from tests import kafka_jars
from tests.dataplane.log.cleaner.cleaning import CODECS, end_transaction, make_round, put
from tests.dataplane.log.support import NOW_MS

pytestmark = pytest.mark.conformance

CONFIG = LogConfig(segment_bytes=6000, index_interval_bytes=300)


@dataclasses.dataclass
class Disk:
    fs: OsFileSystem = dataclasses.field(default_factory=OsFileSystem)


@pytest.fixture(scope="module")
def class_path() -> str:
    kafka_jars.fetch()
    return kafka_jars.class_path()


def dump(class_path: str, files: list[pathlib.Path], *options: str) -> str:
    """What the tool prints; several files in one run of the JVM."""
    command = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", class_path]
    command += ["kafka.tools.DumpLogSegments", *options, "--files", ",".join(map(str, files))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-2000:]
    assert "Exception" not in output, output[-2000:]
    assert "Mismatches in" not in output, output[-2000:]
    assert "not valid" not in output.lower(), output[-2000:]
    return output


def opened(path: pathlib.Path, config: LogConfig = CONFIG) -> PartitionLog:
    path.mkdir(exist_ok=True)
    return PartitionLog(
        LogEnvironment(OsFileSystem(), FakeClock(), InlineBackground()),
        TopicPartition("topic", 0),
        str(path),
        config,
    )


def fill(log: PartitionLog) -> int:
    """Every codec, headers, tombstones, producers, both kinds of markers; the number of records."""
    count = 0
    for number in range(60):
        codec = CODECS[number % len(CODECS)]
        pairs = [
            (f"k{(number * 3 + n) % 20}", None if n == 2 else f"{number}" * 20) for n in range(3)
        ]
        put(log, *pairs, at_ms=NOW_MS + number * 1000, compression=codec)
        count += 3
        if number % 10 == 9:
            producer = 100 + number
            put(
                log,
                ("t", str(number)),
                producer_id=producer,
                producer_epoch=0,
                base_sequence=0,
                is_transactional=True,
                at_ms=NOW_MS + number * 1000 + 1,
            )
            end_transaction(log, producer, commits=number % 20 == 9)
            count += 2
    log.update_high_watermark(log.log_end_offset)
    return count


def verified(class_path: str, path: pathlib.Path) -> str:
    """Every file of a closed log, by the tool's own checks."""
    by_suffix = {
        suffix: sorted(path.glob(f"*{suffix}"))
        for suffix in (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
    }
    assert len(by_suffix[".log"]) > 1
    assert by_suffix[".snapshot"]
    everything = [file for files in by_suffix.values() for file in files]
    printed = dump(class_path, everything, "--deep-iteration", "--print-data-log")
    indexes = by_suffix[".index"] + by_suffix[".timeindex"]
    dump(class_path, indexes, "--verify-index-only", "--deep-iteration")
    dump(class_path, indexes, "--index-sanity-check")
    return printed


def offsets(printed: str) -> list[int]:
    return [int(found) for found in re.findall(r"^\| offset: (\d+) ", printed, re.MULTILINE)]


def test_it_reads_what_we_wrote(tmp_path: pathlib.Path, class_path: str) -> None:
    log = opened(tmp_path / "topic-0")
    count = fill(log)
    log.close()
    printed = verified(class_path, tmp_path / "topic-0")
    assert offsets(printed) == list(range(count))
    assert printed.count("endTxnMarker: COMMIT") == 3
    assert printed.count("endTxnMarker: ABORT") == 3
    assert len(re.findall(r"version: 0 producerId: \d+ firstOffset", printed)) == 3, "the .txnindex"
    assert "producerId: 109 producerEpoch: 0" in printed, "the .snapshot"


def test_it_reads_what_compaction_wrote(tmp_path: pathlib.Path, class_path: str) -> None:
    config = dataclasses.replace(CONFIG, compacts=True, delete_retention_ms=1000)
    log = opened(tmp_path / "topic-0", config)
    fill(log)
    before = log.size_bytes
    for later_ms in (0, 500, 2_000_000):  # the horizon is set, is awaited, has passed
        log.roll()
        run = make_round(Disk(), log, now_ms=NOW_MS + later_ms)
        list(run.map_keys())
        for group in run.groups:
            list(run.rewrite(group))
            assert log.replace_segments(run.result, truncations=run.plan.truncations)
        log.cleaned_until = run.cleaned_until
        put(log, ("later", str(later_ms)), at_ms=NOW_MS + 70_000)
        log.update_high_watermark(log.log_end_offset)
        log.flush()
        if later_ms == 0:
            files = sorted((tmp_path / "topic-0").glob("*.log"))
            assert "deleteHorizonMs: OptionalLong[" in dump(class_path, files)
    assert log.size_bytes < before / 2
    end = log.log_end_offset
    log.close()
    for leftover in (tmp_path / "topic-0").glob("*.deleted"):
        leftover.unlink()
    printed = verified(class_path, tmp_path / "topic-0")
    found = offsets(printed)
    assert found == sorted(set(found))
    assert found[-1] == end - 1
    assert "isvalid: false" not in printed


def test_the_checks_would_notice_a_wrong_index(tmp_path: pathlib.Path, class_path: str) -> None:
    log = opened(tmp_path / "topic-0")
    fill(log)
    log.close()
    index = min((tmp_path / "topic-0").glob("*.index"))
    content = bytearray(index.read_bytes())
    content[3] += 1  # the first entry's relative offset
    index.write_bytes(bytes(content))
    with pytest.raises(AssertionError, match="Mismatches"):
        dump(class_path, [index], "--verify-index-only", "--deep-iteration")
