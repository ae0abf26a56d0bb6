"""Which scenarios are played, and when somebody is killed."""

from __future__ import annotations

import pytest

from tests.hosts.middle import a_broker_returns, broker_under_way
from tests.hosts.run import chosen
from tests.hosts.scenarios import SCENARIOS


def names(*only: str) -> list[str]:
    return [each.name for each in chosen(only)]


def test_every_scenario_has_a_name_of_its_own():
    assert names() == [each.name for each in SCENARIOS]
    assert len(set(names())) == len(names())


def test_a_part_of_a_name_means_all_with_it_and_a_whole_name_that_one_alone():
    assert names("another version") == ["another version"]
    assert len(names("another vers")) == 4
    assert names("all brokers restarted", "the protocol raised") == [
        "all brokers restarted",
        "the protocol raised",
    ]
    assert names("nothing of it") == []


def test_what_cannot_be_taken_back_is_played_last():
    raising = [number for number, name in enumerate(names()) if "the protocol raised" in name]
    assert raising == list(range(len(SCENARIOS) - len(raising), len(SCENARIOS)))


def of(*states: str) -> dict[str, object]:
    rows = [{"id": number, "state": state} for number, state in enumerate(states, start=1)]
    return {"outcome": {"roll": {"brokers": rows}}}


@pytest.mark.parametrize(
    ("operation", "broker"),
    [
        ({"outcome": None}, None),
        ({"outcome": {"cluster_id": "kc_1"}}, None),
        (of("waiting", "waiting"), None),
        (of("restarting", "waiting"), None),
        (of("done", "returning", "waiting"), 2),
        (of("done", "done", "catching-up"), 3),
        (of("done", "done", "done"), None),
    ],
)
def test_the_middle_of_a_roll_is_when_a_broker_was_told_and_is_not_back(operation, broker):
    assert broker_under_way(operation) == broker
    assert a_broker_returns(operation) is (broker is not None)
