"""Every multi of the controller carries the epoch check and stays within ZooKeeper's bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dataplane.cluster.writes import BYTES_PER_MULTI, OPS_PER_MULTI, packed
from dataplane.ports.coordinator import Check, Create

groups = st.lists(
    st.lists(st.integers(0, 60_000), min_size=1, max_size=4).map(
        lambda sizes: [Create(f"/n{n}", b"x" * size) for n, size in enumerate(sizes)]
    ),
    max_size=30,
)


@given(groups)
def test_packing_keeps_groups_whole_in_order_and_bounded(made):
    multis = list(packed(7, made))
    assert [op for multi in multis for op in multi[1:]] == [op for group in made for op in group]
    for multi in multis:
        assert multi[0] == Check("/controller_epoch", 7)
        assert len(multi) <= OPS_PER_MULTI
        size = sum(len(op.data) for op in multi[1:])
        assert size <= BYTES_PER_MULTI or len(multi) <= 5
    boundaries = {sum(len(m) - 1 for m in multis[:n]) for n in range(len(multis) + 1)}
    ends = {sum(len(g) for g in made[:n]) for n in range(len(made) + 1)}
    assert boundaries <= ends


def test_many_small_groups_share_multis():
    made = [[Create(f"/t{n}"), Create(f"/t{n}/p")] for n in range(1000)]
    assert len(list(packed(1, made))) <= 2000 / (OPS_PER_MULTI - 2) + 1
