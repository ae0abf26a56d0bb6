"""What stops a step on a group: offsets that moved since the plan, members that came after it."""

import pytest

from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import TP
from controlplane.groups.group_state import MEMBER_ERRORS, last_guard, require_unmoved, restoring
from controlplane.operations.operations import StepFailedError

PLANNED = {"orders-0": 5, "orders-1": None}


def test_offsets_where_the_plan_saw_them_pass():
    require_unmoved(PLANNED, {"orders-0": 5})
    require_unmoved(PLANNED, {"orders-0": 5, "orders-1": None})
    require_unmoved({}, {})


def test_offsets_that_an_earlier_try_moved_pass():
    require_unmoved(PLANNED, {"orders-0": 0, "orders-1": 7}, target={"orders-0": 0, "orders-1": 7})
    require_unmoved(PLANNED, {"orders-0": 5, "orders-1": 7}, target={"orders-0": 0, "orders-1": 7})


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"orders-0": 6}, "orders-0 was at 5 in the plan and is at 6 now."),
        ({}, "orders-0 was at 5 in the plan and is at None now."),
        ({"orders-0": 5, "orders-1": 0}, "orders-1 was at None in the plan and is at 0 now."),
        ({"orders-0": 5, "orders-2": 1}, "orders-2 was at None in the plan and is at 1 now."),
    ],
)
def test_any_other_offset_fails_the_step(now, said):
    with pytest.raises(StepFailedError) as failed:
        require_unmoved(PLANNED, now)
    assert (failed.value.code, failed.value.detail) == ("plan-stale", said)
    with pytest.raises(StepFailedError):
        require_unmoved(PLANNED, now, target={"orders-0": 1})


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
