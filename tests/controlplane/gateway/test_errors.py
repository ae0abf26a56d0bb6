"""Which refusals of the brokers a step may pass over."""

import pytest

from controlplane.gateway.errors import AcceptedRefusals, GatewayError, timed_out, unreachable
from controlplane.gateway.kafka_link import without_codes


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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "alter orders: [Error 40] InvalidConfigurationError: Invalid value x for retention.ms",
            "alter orders: Invalid value x for retention.ms",
        ),
        ("delete group g: [Error 68] NonEmptyGroupError", "delete group g"),
        ("GroupIdNotFoundError: no such group", "no such group"),
        ("describe: KafkaConnectionError: closed", "describe: closed"),
        ("Value must be at least -1", "Value must be at least -1"),
        ("the topic [Error x] is odd", "the topic [Error x] is odd"),
    ],
)
def test_the_librarys_numbers_and_class_names_are_not_said(text, words):
    assert without_codes(text) == words


def test_people_read_words_and_a_code_only_where_there_are_none():
    assert unreachable("no broker answers").as_problem().detail == "no broker answers"
    assert GatewayError("INVALID_CONFIG", "too low").as_problem().detail == "too low"
    assert GatewayError("INVALID_CONFIG").as_problem().detail == (
        "The brokers refuse it (INVALID_CONFIG)."
    )
