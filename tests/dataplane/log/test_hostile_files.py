"""Files that somebody, or a dying disk, changed: a start mends what it can and loses no record."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataplane.log.config import LogConfig
from dataplane.log.manager.log_directory import InconsistentIdentityError
from dataplane.model.errors import ErrorCode, KafkaError
from dataplane.wire.batch_layout import CODEC_MASK
from dataplane.wire.record_batch import iter_batches, iter_records
from tests.dataplane.log.cleaner.cleaning import end_transaction, put
from tests.dataplane.log.manager.test_log_manager import A0, Host
from tests.dataplane.log.support import NOW_MS, read_all

CONFIG = LogConfig(segment_bytes=2000, index_interval_bytes=150)
RECORDS = 66
ATTRIBUTES_LOW_AT = 22  # of a batch: the attributes' second byte

TIMES_MS = range(NOW_MS - 1, NOW_MS + 520, 3)
DAMAGES = ["junk", "cut", "flip", "empty", "gone", "grown"]
JUNK = st.one_of(
    st.binary(max_size=60),
    st.just(b"0\n1\na 0 99999999999999999999\n"),
    st.just(b"0\n99999999\n"),
    st.just(b"0\n1\na 0 -5\n"),
    st.just(b"0\n1\na 0 7777\n"),
    st.just("0\n1\nä 0 1\n".encode()),
    st.just(b"\xff" * 80),
    st.just(b"\0" * 80),
)


def filled(host: Host):
    """A closed broker with several segments, aborted transactions and producers."""
    manager = host.start()
    log = host.create(manager, A0)
    for number in range(6):
        for each in range(8):
            put(log, ("k", f"{number}{each}" * 10), at_ms=NOW_MS + number * 100 + each)
        options = {"producer_id": 50 + number, "producer_epoch": 0, "base_sequence": 0}
        put(log, ("t", "x"), ("t", "y"), is_transactional=True, at_ms=NOW_MS + number, **options)
        end_transaction(log, 50 + number, commits=number % 2 == 0)
    log.update_high_watermark(log.log_end_offset)
    aborted = log.aborted_transactions(0, RECORDS)
    assert log.log_end_offset == RECORDS
    assert len(aborted) == 3
    manager.stamp_identity("cluster")
    manager.shutdown(broker_epoch=1)
    return aborted


def damage(host: Host, path: str, how: str, data: st.DataObject) -> None:
    content = host.fs.content(path)
    if how == "junk":
        content[:] = data.draw(JUNK)
    elif how == "cut":
        del content[data.draw(st.integers(0, len(content))) :]
    elif how == "flip" and content:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    elif how == "empty":
        content.clear()
    elif how == "gone":
        host.fs.remove(path)
    elif how == "grown":
        content += data.draw(st.binary(min_size=1, max_size=40))


def times(log) -> list:
    """What the log answers to lookups by time, from before its first record to after its last."""
    return [log.offset_for_timestamp(at_ms) for at_ms in TIMES_MS] + [log.max_timestamp_offset()]


@settings(max_examples=150, deadline=None)
@given(data=st.data(), clean=st.booleans(), how=st.sampled_from(DAMAGES))
def test_any_small_file_may_be_damaged(data, clean, how):
    host = Host(dirs=("/d",), config=CONFIG)
    aborted = filled(host)
    if not clean:
        host.fs.remove("/d/.kafka_cleanshutdown")
    small = [p for p in host.fs.paths() if not p.endswith((".log", ".lock", "meta.properties"))]
    path = data.draw(st.sampled_from(small))
    damage(host, path, how, data)
    manager = host.start()
    log = manager.get(A0)
    assert log is not None
    assert log.log_end_offset == RECORDS
    start = log.log_start_offset
    assert not start or path.endswith("log-start-offset-checkpoint")
    assert read_all(log, max_bytes=400) == list(range(start, RECORDS))
    for offset in range(start, RECORDS, 7):
        assert read_all(log, offset, max_bytes=300) == list(range(offset, RECORDS))
    if start == 0:
        assert times(log) == RIGHT_TIMES
    if start == 0 and not path.endswith(".txnindex"):
        assert log.aborted_transactions(0, RECORDS) == aborted
    info = put(log, ("new", "1"))
    assert info.base_offset == log.log_end_offset - 1
    manager.shutdown()
    assert host.start().get(A0).log_end_offset == info.base_offset + 1


@pytest.mark.parametrize("clean", [True, False])
def test_index_entries_with_a_flipped_sign_fail_nobodys_directory(clean):
    """A position below nothing is an error to read at, which would have cost the directory."""
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    if not clean:
        host.fs.remove("/d/.kafka_cleanshutdown")
    for path in [path for path in host.fs.paths() if path.endswith(".index")]:
        content = host.fs.content(path)
        for at in range(4, len(content), 8):
            content[at] |= 0x80
    manager = host.start()
    assert [report.error for report in manager.directories()] == [0]
    log = manager.get(A0)
    assert log.log_end_offset == RECORDS
    for offset in range(RECORDS):
        assert read_all(log, offset, max_bytes=300) == list(range(offset, RECORDS))
    assert times(log) == RIGHT_TIMES


@pytest.mark.parametrize("batch", [0, 1])
def test_a_batch_that_cannot_be_in_its_segment_ends_the_log(batch):
    """No CRC covers a base offset: a flipped one may lie further off than an index can say.

    Noticed where a segment is read at a start, as here where its indexes are gone.
    """
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    last = max(path for path in host.fs.paths() if path.endswith(".log"))
    content = host.fs.content(last)
    size = 12 + int.from_bytes(content[8:12], "big")
    content[batch * size] ^= 1
    for path in [path for path in host.fs.paths() if path.endswith("index")]:
        if path.startswith(last.removesuffix(".log")):
            host.fs.remove(path)
    log = host.start().get(A0)
    assert log.log_end_offset <= RECORDS
    assert read_all(log, max_bytes=400) == list(range(log.log_end_offset))
    assert put(log, ("new", "1")).base_offset == log.log_end_offset - 1
    log.roll()


@settings(max_examples=60, deadline=None)
@given(data=st.data(), how=st.sampled_from(["cut", "flip", "grown"]))
def test_a_time_index_damaged_anywhere_is_noticed_by_whoever_goes_by_it(data, how):
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    indexes = [p for p in host.fs.paths() if p.endswith(".timeindex") and host.fs.content(p)]
    for path in indexes:
        if data.draw(st.booleans()):
            damage(host, path, how, data)
    log = host.start().get(A0)
    for slot in data.draw(st.lists(st.integers(0, len(TIMES_MS) - 1), max_size=10)):
        assert log.offset_for_timestamp(TIMES_MS[slot]) == RIGHT_TIMES[slot]
    assert times(log) == RIGHT_TIMES


def test_a_rebuilt_time_index_is_the_one_that_was():
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    before = {p: bytes(host.fs.content(p)) for p in host.fs.paths() if p.endswith(".timeindex")}
    for path, content in before.items():
        entries = len(content) // 12
        middle = entries // 2 * 12
        host.fs.content(path)[middle : middle + 8] = (1).to_bytes(8, "big")  # a timestamp
    manager = host.start()
    assert times(manager.get(A0)) == RIGHT_TIMES
    assert manager.progress.damaged_files == len(before) > 2
    manager.shutdown()
    assert {path: bytes(host.fs.content(path)) for path in before} == before


def test_retention_does_not_use_a_damaged_time_index():
    """An entry that is too early would let records go before their time."""
    config = LogConfig(segment_bytes=2000, index_interval_bytes=150, retention_ms=1000)
    host = Host(dirs=("/d",), config=config)
    filled(host)
    for path in (p for p in host.fs.paths() if p.endswith(".timeindex")):
        content = host.fs.content(path)
        content[-12:-4] = (1).to_bytes(8, "big")
    log = host.start().get(A0)
    log.update_high_watermark(RECORDS)
    assert log.apply_retention(NOW_MS + 900) == 0
    assert log.apply_retention(NOW_MS + 1_250) > 0


@settings(max_examples=150, deadline=None)
@given(data=st.data(), clean=st.booleans())
def test_several_files_may_be_damaged_at_once_and_nothing_is_invented(data, clean):
    """Records too: a start then loses what lies behind the damage, and never raises."""
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    if not clean:
        host.fs.remove("/d/.kafka_cleanshutdown")
        host.fs.remove("/d/recovery-point-offset-checkpoint")
    good_until, may_have_gaps = RECORDS, False
    for path in data.draw(st.lists(st.sampled_from(host.fs.paths()), max_size=5, unique=True)):
        if path.endswith("meta.properties"):
            continue
        if path.endswith(".log"):
            good_until = min(good_until, int(path[-24:-4]))
        # It says of which logs gaps are compaction's.
        may_have_gaps = may_have_gaps or path.endswith("cleaner-offset-checkpoint")
        damage(host, path, data.draw(st.sampled_from(DAMAGES)), data)
    log = host.start().get(A0)
    assert log is not None
    start, end = log.log_start_offset, log.log_end_offset
    assert start <= end
    if not clean:
        # Leader epochs and base offsets lie outside the CRC; offsets have to hang together.
        found = read_all(log, max_bytes=400)
        everything = list(range(start, end))
        assert found == everything or (may_have_gaps and found == everything[-len(found) :])
        assert end >= good_until or start > 0
        assert records_of(log) <= RIGHT_RECORDS
    if clean and good_until < RECORDS:
        times_or_refusal(log)
    else:
        times(log)
    log.aborted_transactions(0, RECORDS)
    info = put(log, ("new", "1"))
    assert info.base_offset == end


def times_or_refusal(log) -> None:
    """After a clean stop nothing is scanned: who looks into the damaged batch is refused."""
    try:
        found = times(log)
    except KafkaError as error:
        found = error.code
    assert found == ErrorCode.CORRUPT_MESSAGE or len(found) == len(TIMES_MS) + 1


def test_a_lookup_by_time_in_a_damaged_batch_after_a_clean_stop_is_refused():
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    path = next(path for path in host.fs.paths() if path.endswith(".log"))
    host.fs.content(path)[ATTRIBUTES_LOW_AT] |= CODEC_MASK  # seven: there is no such codec
    log = host.start().get(A0)
    with pytest.raises(KafkaError, match="unknown compression codec") as refused:
        times(log)
    assert refused.value.code is ErrorCode.CORRUPT_MESSAGE


def records_of(log) -> set[tuple[int, bytes | None, bytes | None]]:
    found: set[tuple[int, bytes | None, bytes | None]] = set()
    at = log.log_start_offset
    while at < log.log_end_offset:
        data = log.read(at, 1 << 20, log.log_end_offset).read()
        for position, _size in iter_batches(data):
            for record in iter_records(data, position):
                found.add((record.offset, record.key, record.value))
                at = record.offset + 1
    return found


def test_a_torn_txnindex_is_found_again_from_the_batches():
    host = Host(dirs=("/d",), config=CONFIG)
    aborted = filled(host)
    path = next(p for p in host.fs.paths() if p.endswith(".txnindex"))
    del host.fs.content(path)[-3:]
    manager = host.start()
    assert manager.get(A0).aborted_transactions(0, RECORDS) == aborted
    assert manager.progress.damaged_files == 1


def test_transactions_of_a_segment_that_grew_after_the_last_snapshot_are_all_known():
    host = Host(dirs=("/d",))
    manager = host.start()
    log = host.create(manager, A0)

    def abort(log, producer):
        put(
            log,
            ("t", "x"),
            producer_id=producer,
            producer_epoch=0,
            base_sequence=0,
            is_transactional=True,
        )
        end_transaction(log, producer, commits=False)

    abort(log, 1)
    manager.shutdown()  # a snapshot in the middle of the segment
    manager = host.start()
    abort(manager.get(A0), 2)
    host.fs.crash(lambda _path, _synced, size: size)
    manager = host.start()
    found = manager.get(A0).aborted_transactions(0, 100)
    assert [each.producer_id for each in found] == [1, 2]
    (path,) = (p for p in host.fs.paths() if p.endswith(".txnindex"))
    assert len(host.fs.content(path)) == 2 * 34


@settings(max_examples=60, deadline=None)
@given(junk=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_a_damaged_meta_properties_is_refused_or_mended_never_a_crash(junk):
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    host.fs.content("/d/meta.properties")[:] = junk
    manager = host.start()
    try:
        manager.stamp_identity("cluster")
    except InconsistentIdentityError:
        return
    assert "cluster.id=cluster" in host.text("/d/meta.properties")


def test_progress_of_a_recovery_is_counted_while_it_goes_on():
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    host.fs.remove("/d/.kafka_cleanshutdown")
    host.fs.remove("/d/recovery-point-offset-checkpoint")
    logs = [p for p in host.fs.paths() if p.endswith(".log")]
    size = sum(len(host.fs.content(p)) for p in logs)
    host.fs.content(logs[-1])[-1] ^= 1
    host.fs.content("/d/replication-offset-checkpoint")[:] = b"junk"
    progress = host.start().progress
    assert (progress.logs_found, progress.logs_opened) == (1, 1)
    assert 0 < progress.scanned_bytes < size
    assert 0 < progress.truncated_bytes < 200
    assert progress.rebuilt_segments == len(logs)
    assert progress.damaged_files == 1


def undamaged():
    host = Host(dirs=("/d",), config=CONFIG)
    filled(host)
    log = host.start().get(A0)
    return times(log), records_of(log)


RIGHT_TIMES, RIGHT_RECORDS = undamaged()


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(
        st.text(st.sampled_from("a-0.129_\u00e4/"), min_size=1, max_size=12).filter(
            lambda name: "/" not in name and name not in {".", ".."}
        ),
        max_size=6,
    )
)
def test_strange_directory_names_are_left_alone(names):
    host = Host(dirs=("/d",))
    host.fs.make_dirs("/d")
    for name in names:
        host.fs.make_dirs(f"/d/{name}")
    try:
        manager = host.start()
    except KafkaError:
        pytest.fail("a strange name must not keep a broker from starting")
    for tp in manager.all():
        assert str(tp) in names
