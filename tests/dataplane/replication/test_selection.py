"""Which replica a consumer is sent to (KIP-392)."""

from __future__ import annotations

import pytest

from dataplane.replication.selection import Candidate, nearest

LEADER = Candidate(1, "a", 100, 0)


@pytest.mark.parametrize(
    ("rack", "followers", "chosen"),
    [
        ("", [Candidate(2, "", 100, 0)], 1),
        ("a", [Candidate(2, "a", 100, 0)], 1),
        ("b", [Candidate(2, "b", 100, 0)], 2),
        ("b", [Candidate(2, None, 100, 0), Candidate(3, "c", 100, 0)], 1),
        ("b", [], 1),
        ("b", [Candidate(2, "b", 90, 0), Candidate(3, "b", 95, 9)], 3),
        ("b", [Candidate(2, "b", 90, 5), Candidate(3, "b", 90, 9)], 2),
        ("b", [Candidate(2, "b", 90, 5), Candidate(3, "b", 90, 5)], 3),
    ],
)
def test_the_nearest_is_on_the_rack_and_furthest_on(rack, followers, chosen):
    assert nearest(rack, LEADER, followers) == chosen
    assert nearest(rack, LEADER, followers[::-1]) == chosen
