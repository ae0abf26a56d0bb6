"""What a probe has seen: gaps by partition, failures, and what nobody saw."""

import pytest

from controlplane.clusters.probe_figures import GAPS_MAX, Track, together


def track(*acknowledged, partitions=(0, 1), began_s=0.0):
    made = Track(partitions, began_s)
    for partition, at_s in acknowledged:
        made.acknowledge(partition, at_s)
    return made


def test_the_longest_time_between_two_acknowledgements_of_one_partition():
    seen = track((0, 1.0), (1, 1.0), (1, 1.05), (0, 1.4), (0, 1.45), (1, 1.1))
    found = seen.figures(0.5, 1.46)
    assert found["gap_s"] == pytest.approx(0.4)
    assert found["partition"] == 0


def test_the_pace_itself_is_no_gap():
    found = track((0, 1.0), (0, 1.05), partitions=(0,)).figures(0.0, 1.06)
    assert (found["gap_s"], found["partition"]) == (0.0, None)


def test_what_is_silent_now_has_a_gap_until_now():
    found = track((0, 1.0), (1, 1.0), (1, 5.95)).figures(0.5, 6.0)
    assert found["gap_s"] == pytest.approx(5.0)
    assert found["partition"] == 0


def test_what_ended_before_is_another_brokers():
    seen = track((0, 1.0), (0, 3.0), (0, 3.05), partitions=(0,))
    assert seen.figures(2.5, 3.06)["gap_s"] == pytest.approx(2.0), "it lasted until then"
    assert seen.figures(3.02, 3.06)["gap_s"] == 0.0


def test_failures_count_from_then_on():
    seen = track((0, 1.0), partitions=(0,))
    seen.fail(2.0, "KafkaTimeoutError")
    seen.fail(4.0, "NotEnoughReplicasError")
    assert seen.figures(3.0, 1.05)["failed"] == 1
    assert seen.figures(0.0, 1.05)["error"] == "NotEnoughReplicasError"


def test_it_is_ready_when_every_partition_has_answered():
    seen = track((0, 1.0))
    assert not seen.is_ready
    seen.acknowledge(1, 1.1)
    assert seen.is_ready


def test_it_keeps_no_more_than_its_bound():
    seen = track(*((0, float(at)) for at in range(2 * GAPS_MAX)), partitions=(0,))
    for at in range(2 * GAPS_MAX):
        seen.fail(float(at), "x")
    assert (len(seen.gaps), len(seen.failures)) == (GAPS_MAX, GAPS_MAX)


def figures(from_s, until_s, gap_s=0.2, failed=0, error=""):
    return {
        "from_s": from_s,
        "until_s": until_s,
        "gap_s": gap_s,
        "partition": 0,
        "failed": failed,
        "error": error,
    }


def test_nobody_saw_anything():
    assert together([], 1.0, 2.0) is None


@pytest.mark.parametrize(
    ("spans", "is_whole"),
    [
        ([(0, 20)], True),
        ([(0, 12), (11, 20)], True),
        ([(11, 20), (0, 12)], True),
        ([(0, 12), (15, 20)], False),  # a worker was killed, and the next one came late
        ([(14, 20)], False),
        ([(0, 12)], False),
    ],
)
def test_what_several_workers_saw_is_whole_when_one_of_them_looked_at_all_times(spans, is_whole):
    seen = [figures(float(since), float(until)) for since, until in spans]
    assert together(seen, 10.0, 20.0)["is_whole"] == is_whole


def test_the_worst_of_them_counts():
    found = together(
        [figures(0, 20, 0.1), figures(5, 20, 0.4, failed=2, error="Timeout")], 10.0, 20.0
    )
    assert (found["gap_s"], found["failed"], found["error"]) == (0.4, 2, "Timeout")
