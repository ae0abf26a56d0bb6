"""Which refusals of the brokers a step may pass over."""

import pytest

from controlplane.gateway.errors import AcceptedRefusals, GatewayError, timed_out, unreachable


def test_a_refusal_that_says_nothing_is_left_to_do_passes():
    reached = []
    with AcceptedRefusals("RESOURCE_NOT_FOUND", "GROUP_ID_NOT_FOUND"):
        reached.append("call")
        raise GatewayError("GROUP_ID_NOT_FOUND")
    assert reached == ["call"]


@pytest.mark.parametrize(
    "error",
    [
        GatewayError("TOPIC_AUTHORIZATION_FAILED"),
        unreachable("no broker answers"),
        timed_out("delete orders", write=True),
        GatewayError("RESOURCE_NOT_FOUND_YET"),
    ],
    ids=lambda error: error.code,
)
def test_every_other_error_is_raised_as_it_is(error):
    with pytest.raises(GatewayError) as raised, AcceptedRefusals("RESOURCE_NOT_FOUND"):
        raise error
    assert raised.value is error


def test_an_error_of_our_own_is_never_taken_for_a_refusal():
    with pytest.raises(KeyError), AcceptedRefusals("RESOURCE_NOT_FOUND"):
        raise KeyError("RESOURCE_NOT_FOUND")
