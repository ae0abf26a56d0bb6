"""What self-healing says: each decision is made of sentences by their codes, none is free text."""

import random

import pytest

from controlplane.common.said import kept, parts_of
from controlplane.common.sentences import SentenceError, rendered
from controlplane.healing.rules import NONE, BrokerFact, Decision, Facts, decide
from controlplane.healing.sentences import (
    DECIDED,
    TEXT_MAX,
    as_it_came,
    decided,
    refused,
)
from controlplane.healing.services import ODD
from tests.controlplane.healing.test_rules import NOW, POLICY, any_facts, any_policy

OF_CASES = {"refused", "confirmed", "said-no", "healed", "not-succeeded", "as-it-came"}
"""Said of a case that goes on; the rules say the others."""
LOOPING = BrokerFact(id=1, host_id="a", state="backoff", restarts=7)


def decisions():
    """From facts at random, and those that random ones do not have."""
    yield ODD
    yield decide(POLICY, Facts(now=NOW, brokers=(LOOPING,)))
    rng = random.Random(1)
    for _ in range(5_000):
        yield decide(any_policy(rng), any_facts(rng))


def test_every_decision_is_made_of_sentences_of_the_table():
    said = set()
    for found in decisions():
        assert found.parts
        assert found.text == " ".join(part.text for part in found.parts)
        for part in found.parts:
            assert part.text == rendered(DECIDED[part.code], part.params)
            said.add(part.code)
    assert said == set(DECIDED) - OF_CASES, "each of the table is said, none besides"


def test_a_decision_takes_no_free_text():
    with pytest.raises(TypeError):
        Decision(act=NONE, code="well", text="Every host of the cluster is there.")
    with pytest.raises(KeyError):
        decided("Every host of the cluster is there.")
    with pytest.raises(SentenceError):
        decided("well", said="And more.")


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (
            decided("crash-loop", broker="1001", restarts=7),
            (
                "Broker 1001 has ended 7 times. Its agent starts it again, at most each 30 s;"
                " another host would not mend what ends it."
            ),
        ),
        (
            decided("why/silent", broker="2", silent_ms=5_400_000),
            "The host of broker 2 is silent for 1 hour 30 minutes.",
        ),
        (
            decided("several-silent", hosts=3),
            (
                "3 hosts fell silent at about the same time or since: that may be a cut of the"
                " network, so nothing is done by itself."
            ),
        ),
        (
            decided("under-way", kind="reassignment"),
            "reassignment is under way; one thing at a time.",
        ),
        (
            decided("window-opens", opens_at="2026-11-29T02:00:00Z"),
            "The next one opens at 2026-11-29 02:00 UTC.",
        ),
        (refused("alone-0 has no other replica."), "It is refused: alone-0 has no other replica."),
    ],
)
def test_the_english_is_as_it_was(said, text):
    assert said.text == text


def test_a_text_that_is_too_long_is_cut_and_has_no_parts():
    why = decided("why/lost", broker="2")
    room = TEXT_MAX - len(f"{why.text} It is refused: ")
    text, parts = kept((why, refused("x" * room)), TEXT_MAX)
    assert (len(text), [part["code"] for part in parts]) == (TEXT_MAX, ["why/lost", "refused"])
    assert parts_of(text, parts) == parts
    text, parts = kept((why, refused("x" * (room + 1))), TEXT_MAX)
    assert (len(text), parts) == (TEXT_MAX, [])


def test_what_no_database_takes_is_in_neither():
    text, parts = kept((as_it_came("a\0b\ud800"),), TEXT_MAX)
    assert text == "a?b?"
    assert parts == [{"code": "as-it-came", "params": {"said": text}, "text": text}]
