"""Telemetry of staged situations, by name: what a collector would have written."""

from __future__ import annotations

from tests.spark_analytics import world


def topic_slice(at, end, **more):
    return {
        "v": 1,
        "kind": "topic",
        "cluster_id": "c",
        "topic": "t",
        "retention_ms": 3_600_000,
        "ts_ms": minute(at),
        "retention_bytes": -1,
        "partition": [0],
        "leader_epoch": [0],
        "log_start_offset": [0],
        "log_end_offset": [end],
        "size_bytes": [None if end is None else end * 10],
        "oldest_ts_ms": [world.START_MS - 60_000],
        **more,
    }


def group_slice(at, committed, end, **more):
    return {
        "v": 1,
        "kind": "group",
        "cluster_id": "c",
        "group": "g",
        "topic": "t",
        "ts_ms": minute(at),
        "state": "Stable",
        "members": 1,
        "partition": [0],
        "committed_offset": [committed],
        "log_start_offset": [0],
        "log_end_offset": [end],
        **more,
    }


def minute(number):
    return int(world.START_MS + number * 60_000)


TWO = {
    "partition": [0, 1],
    "leader_epoch": [0, 0],
    "log_start_offset": [0, 0],
    "size_bytes": [1000, 10],
    "oldest_ts_ms": [world.START_MS, world.START_MS],
}
PAIR = {"partition": [0, 1], "log_start_offset": [0, 0]}
CASES = {
    # 100 records a minute; the group stands where the log end was 4.5 minutes ago.
    "behind": [
        *(topic_slice(m, 100 * m + 1000) for m in range(11)),
        *(group_slice(m, 100 * m + 550, 100 * m + 1000) for m in range(11)),
    ],
    # Reads 30 of 100 records a minute.
    "falls-slowly": [
        *(topic_slice(m, 100 * m + 1000, retention_ms=86_400_000) for m in range(11)),
        *(group_slice(m, 30 * m + 900, 100 * m + 1000) for m in range(11)),
    ],
    "stopped": [
        *(topic_slice(m, 100 * m + 1000) for m in range(11)),
        *(group_slice(m, 1000, 100 * m + 1000, members=0) for m in range(11)),
    ],
    "before-history": [
        *(topic_slice(m, 100 * m + 1000) for m in range(2)),
        *(group_slice(m, 100 * m + 500, 100 * m + 1000) for m in range(2)),
    ],
    "end-unknown": [topic_slice(0, None), group_slice(0, 5, None)],
    "no-commit": [topic_slice(0, 50), group_slice(0, -1, 50)],
    "never-commits": [
        one for m in range(11) for one in (topic_slice(m, 50), group_slice(m, -1, 50))
    ],
    # Of two partitions one is committed and lost records, the other was never committed.
    "lost-and-uncommitted": [
        one
        for m in range(11)
        for one in (
            topic_slice(m, 0, **{**TWO, "log_start_offset": [500, 0]}, log_end_offset=[900, 50]),
            group_slice(
                *(m, 0, 0),
                **{**PAIR, "log_start_offset": [500, 0]},
                committed_offset=[200, -1],
                log_end_offset=[900, 50],
            ),
        )
    ],
    # Nobody is there, and at minute 8 the offsets are set back; nobody comes.
    "deserted-and-rewound": [
        one
        for m in range(14)
        for one in (
            topic_slice(m, 1000),
            group_slice(m, 1000 if m < 8 else 100, 1000, members=0, state="Empty"),
        )
    ],
    # Deleted and created again at minute 5: offsets begin again, the group's are gone with the old.
    "recreated": [
        *(topic_slice(m, 100 * m + 1000) for m in range(5)),
        *(topic_slice(m, 10 * m, oldest_ts_ms=[minute(5)]) for m in range(5, 11)),
        *(group_slice(m, 100 * m + 900, 100 * m + 1000) for m in range(5)),
        *(group_slice(m, 10 * m - 15, 10 * m) for m in range(5, 11)),
    ],
    # The same with topic ids: what was true of the old one stays true of its time.
    "recreated-with-ids": [
        *(topic_slice(m, 100 * m + 1000, topic_id="one") for m in range(5)),
        *(topic_slice(m, 10 * m, topic_id="two", oldest_ts_ms=[minute(5)]) for m in range(5, 11)),
        *(group_slice(m, 100 * m + 850, 100 * m + 1000, topic_id="one") for m in range(5)),
        *(group_slice(m, 10 * m - 15, 10 * m, topic_id="two") for m in range(5, 11)),
    ],
    # A leader with less comes at minute 5: of the 1400 records 1150 stay.
    "cut": [
        *(topic_slice(m, 100 * m + 1000, topic_id="one") for m in range(5)),
        *(topic_slice(m, 10 * m + 1100, topic_id="one", leader_epoch=[1]) for m in range(5, 11)),
        *(group_slice(m, 100 * m + 850, 100 * m + 1000, topic_id="one") for m in range(5)),
        *(group_slice(m, 1050, 10 * m + 1100, topic_id="one") for m in range(5, 11)),
    ],
    "group-deleted": [
        *(topic_slice(m, 100 * m) for m in range(11)),
        *(group_slice(m, 100 * m, 100 * m) for m in range(6)),
    ],
    # A second partition from minute 5 on, that the group has not committed on yet.
    "partition-added": [
        *(topic_slice(m, 100 * m) for m in range(5)),
        *(topic_slice(m, 0, **TWO, log_end_offset=[100 * m, m]) for m in range(5, 11)),
        *(group_slice(m, 100 * m, 100 * m) for m in range(5)),
        *(
            group_slice(
                m, 0, 0, **PAIR, log_end_offset=[100 * m, m], committed_offset=[100 * m, -1]
            )
            for m in range(5, 11)
        ),
    ],
    # Retention went past the group: 300 of its records are gone.
    "data-lost": [
        *(topic_slice(m, 100 * m + 1000, log_start_offset=[500]) for m in range(11)),
        *(group_slice(m, 200, 100 * m + 1000, log_start_offset=[500]) for m in range(11)),
    ],
    # The collector's clock is set back by five minutes after minute 8.
    "clock-back": [
        one
        for m in range(14)
        for at in [m if m <= 8 else m - 4.5]
        for one in (topic_slice(at, 100 * m + 1000), group_slice(at, 100 * m + 900, 100 * m + 1000))
    ],
    # The last record is a transaction's marker, which no consumer is given: lag is of offsets.
    "marker-at-the-end": [
        one for m in range(11) for one in (topic_slice(m, 1001), group_slice(m, 1000, 1001))
    ],
    # Compaction left gaps: few records in many offsets, none of which retention takes.
    "compacted": [
        one
        for m in range(11)
        for one in (
            topic_slice(m, 100 * m + 1000, retention_ms=-1, size_bytes=[50]),
            group_slice(m, 100 * m + 700, 100 * m + 1000),
        )
    ],
    # Deleted for twelve minutes, then a group of that name begins from nothing.
    "born-again": [
        *(topic_slice(m, 100 * m + 1000) for m in range(24)),
        *(group_slice(m, 100 * m + 1000, 100 * m + 1000) for m in range(6)),
        *(group_slice(m, 0, 100 * m + 1000) for m in range(18, 24)),
    ],
    # Nobody collected for three hours, in which the group came on to 5000 and stopped.
    "hours-missing": [
        one
        for m in [*range(8), *range(188, 196)]
        for one in (
            topic_slice(m, 100 * m + 1000),
            group_slice(m, 1000 if m < 8 else 5000, 100 * m + 1000),
        )
    ],
    # Each sample came three times.
    "thrice": [
        one
        for m in range(11)
        for _ in range(3)
        for one in (topic_slice(m, 100 * m + 1000), group_slice(m, 30 * m + 900, 100 * m + 1000))
    ],
    # Nobody collected from minute 3 to 20; what came in between came nobody knows when.
    "gap": [
        one
        for m in [0, 1, 2, 3, 20, 21, 22]
        for one in (topic_slice(m, 100 * m + 1000), group_slice(m, 2000, 100 * m + 1000))
        if m > 3 or one["kind"] == "topic"
    ],
}


def of_cluster(cluster_id, slices):
    return [{**one, "cluster_id": cluster_id} for one in slices]
