import pytest

from controlplane.clusters.log_dir_rules import (
    ABSENT,
    FAILED,
    WORKING,
    Directory,
    NoRoomError,
    after_adding,
    after_removing,
    directory,
    emptying,
    matched,
    missing,
    next_moves,
    targets,
)
from controlplane.clusters.reports import LogDir
from controlplane.gateway.types import (
    TP,
    LogDirectory,
    PartitionDescription,
    ReplicaSize,
    TopicDescription,
)

GIB = 2**30


def replica(number, size=GIB, *, path="/b", is_future=False):
    return ReplicaSize(
        broker=1,
        log_dir=path,
        tp=TP("t", number),
        size_bytes=size,
        offset_lag=0,
        is_future=is_future,
    )


def disk(name, *replicas, usable=100 * GIB, total=1_000 * GIB, volume="", state=WORKING):
    return Directory(
        name=name,
        path=f"/{name}",
        state=state,
        total_bytes=total,
        usable_bytes=usable,
        replicas=replicas,
        volume=volume,
    )


def test_directories_have_the_names_that_their_agent_gives_them():
    said = [LogDir(name="main", path="/m"), LogDir(name="b", path="/b", problem="It is away.")]
    found = [
        LogDirectory(broker=1, log_dir="/m", total_bytes=9, usable_bytes=5),
        LogDirectory(broker=1, log_dir="/b", error="KAFKA_STORAGE_ERROR"),
        LogDirectory(broker=1, log_dir="/x"),
    ]
    main, failed, unnamed = matched(said, found, {"main": "7"})
    assert (main.name, main.state, main.usable_bytes, main.volume) == ("main", WORKING, 5, "7")
    assert (failed.name, failed.state, failed.problem) == ("b", FAILED, "It is away.")
    assert failed.room_bytes is None
    assert unnamed.name == "/x"
    assert directory("none", [main]).state == ABSENT


def test_the_largest_goes_first_to_where_most_room_is():
    a, c = (
        disk("a", usable=200 * GIB, total=200 * GIB),
        disk("c", usable=190 * GIB, total=200 * GIB),
    )
    found = targets([replica(0, 10 * GIB), replica(1, 50 * GIB), replica(2, 20 * GIB)], [a, c])
    assert {tp.partition: into.name for tp, into in found.items()} == {1: "a", 2: "c", 0: "c"}


def test_a_twentieth_of_a_volume_stays_free():
    with pytest.raises(NoRoomError) as caught:
        targets([replica(0, 96 * GIB)], [disk("a", usable=100 * GIB, total=100 * GIB)])
    assert caught.value.wanted == 96 * GIB
    assert caught.value.room == 95 * GIB
    assert targets([replica(0, 95 * GIB)], [disk("a", usable=100 * GIB, total=100 * GIB)])


def test_two_directories_on_one_disk_have_its_room_once():
    into = [
        disk("a", usable=10 * GIB, total=10 * GIB, volume="v"),
        disk("c", usable=10 * GIB, total=10 * GIB, volume="v"),
    ]
    with pytest.raises(NoRoomError):
        targets([replica(0, 6 * GIB), replica(1, 6 * GIB)], into)
    assert len(targets([replica(0, 6 * GIB)], into)) == 1


def test_a_room_that_nobody_says_is_not_known_to_be_enough_while_another_is():
    unknown = disk("a", usable=None, total=None)
    known = disk("c", usable=10 * GIB, total=10 * GIB)
    assert targets([replica(0)], [unknown, known])[TP("t", 0)].name == "c"
    with pytest.raises(NoRoomError):
        targets([replica(0, 11 * GIB)], [unknown, known])
    # Where none says it, it is spread by bytes.
    others = [disk("a", replica(8, 5 * GIB), usable=None), disk("c", usable=None)]
    assert targets([replica(0)], others)[TP("t", 0)].name == "c"


def test_without_another_directory_nothing_goes_anywhere():
    with pytest.raises(NoRoomError):
        targets([replica(0)], [])
    assert targets([], []) == {}


def test_how_far_it_is_counts_what_was_copied():
    source = disk("b", replica(0, 8 * GIB), replica(1, 4 * GIB))
    other = disk("a", replica(0, 3 * GIB, path="/a", is_future=True))
    now = emptying("b", [source, other])
    assert (now.left, now.left_bytes) == (2, 9 * GIB)
    assert now.under_way == {TP("t", 0)}
    assert [row.tp.partition for row in now.waiting] == [1]


def test_moves_are_begun_some_at_a_time():
    source = disk("b", *(replica(number) for number in range(5)))
    assert len(next_moves("b", [source, disk("a")], at_once=3)) == 3
    busy = disk("a", replica(0, 0, path="/a", is_future=True))
    begun = next_moves("b", [source, busy], at_once=3)
    assert sorted(begun) == [TP("t", 1), TP("t", 2)]
    assert set(begun.values()) == {"/a"}


def test_what_is_under_way_has_its_room_already():
    source = disk("b", replica(0, 6 * GIB), replica(1, 6 * GIB))
    copied = replica(0, 2 * GIB, path="/a", is_future=True)
    # 8 GiB are left, and 4 of them are what is still to come.
    full = disk("a", copied, usable=8 * GIB, total=10 * GIB)
    with pytest.raises(NoRoomError):
        next_moves("b", [source, full], at_once=9)
    roomy = disk("a", copied, usable=11 * GIB, total=14 * GIB)
    assert list(next_moves("b", [source, roomy], at_once=9)) == [TP("t", 1)]


def test_a_failed_directory_takes_nothing():
    with pytest.raises(NoRoomError):
        next_moves("b", [disk("b", replica(0)), disk("a", state=FAILED)], at_once=9)


def topic(*isrs):
    parts = tuple(
        PartitionDescription(
            partition=number,
            leader=isr[0] if isr else None,
            leader_epoch=1,
            replicas=(1, 2),
            isr=isr,
        )
        for number, isr in enumerate(isrs)
    )
    return TopicDescription(name="t", topic_id="x", internal=False, partitions=parts)


def test_what_a_broker_has_lost_by_what_others_have_of_it():
    found = missing(1, [topic((2,), (1, 2), (1,), (), (2, 1))], {TP("t", 4)})
    assert found.elsewhere == {TP("t", 0)}
    assert found.counted == {TP("t", 1)}
    assert found.only_here == {TP("t", 2), TP("t", 3)}


def test_names_are_kept_once():
    assert after_adding(["b"], "c") == ["b", "c"]
    assert after_adding(["b"], "b") == ["b"]
    assert after_removing(["b", "c"], "b") == ["c"]
