"""What stops a step on a group: offsets that moved since the plan, members that came after it."""

import pytest

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import TP
from controlplane.groups.group_state import MEMBER_ERRORS, last_guard, require_unmoved, restoring
from controlplane.operations.operations import StepFailedError

PLANNED = {"orders-0": 5, "orders-1": None}


def refusal(planned, now, target=None):
    try:
        require_unmoved(planned, now, target=target)
    except StepFailedError as failed:
        return failed.code, failed.detail
    return None


@pytest.mark.parametrize(
    ("planned", "now", "target"),
    [
        (PLANNED, {"orders-0": 5}, None),
        (PLANNED, {"orders-0": 5, "orders-1": None}, None),
        ({}, {}, None),
        # An earlier try of ours moved all of them, or some.
        (PLANNED, {"orders-0": 0, "orders-1": 7}, {"orders-0": 0, "orders-1": 7}),
        (PLANNED, {"orders-0": 5, "orders-1": 7}, {"orders-0": 0, "orders-1": 7}),
    ],
)
def test_offsets_where_the_plan_or_an_earlier_try_put_them_pass(planned, now, target):
    assert refusal(planned, now, target) is None


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"orders-0": 6}, "orders-0 was at 5 in the plan and is at 6 now."),
        ({}, "orders-0 was at 5 in the plan and has none now."),
        ({"orders-0": 5, "orders-1": 0}, "orders-1 had no commit in the plan and is at 0 now."),
        (
            {"orders-0": 5, "orders-2": 1},
            "The group has a commit in 1 partition of which the plan says nothing.",
        ),
    ],
)
def test_any_other_offset_fails_the_step(now, said):
    assert refusal(PLANNED, now) == ("plan-stale", said)
    assert refusal(PLANNED, now, {"orders-0": 1}) is not None


@pytest.mark.parametrize("code", sorted(MEMBER_ERRORS))
def test_members_that_came_after_the_check_fail_the_step(code):
    with pytest.raises(StepFailedError, match=code) as failed, last_guard():
        raise GatewayError(code)
    assert failed.value.code == "group-active"


def test_another_refusal_stays_what_it_is():
    with pytest.raises(GatewayError, match="GROUP_AUTHORIZATION_FAILED"), last_guard():
        raise GatewayError("GROUP_AUTHORIZATION_FAILED")


def test_the_way_back_commits_the_offsets_again():
    assert restoring("billing", {TP("orders", 1): 5, TP("orders", 2): None}) == (
        "offset.restore",
        {
            "group": "billing",
            "partitions": [
                {"topic": "orders", "partition": 1, "offset": 5},
                {"topic": "orders", "partition": 2, "offset": None},
            ],
        },
    )
