"""What is said of a scheduled rebalance: sentences by their codes, none is free text."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from controlplane.common.sentences import SentenceError, rendered
from controlplane.reassignments.imbalance import (
    GIB,
    NONE,
    Facts,
    Past,
    Verdict,
    judge,
    not_due,
)
from controlplane.reassignments.schedule_sentences import JUDGED, judged
from controlplane.reassignments.scheduled import ODD
from tests.controlplane.reassignments.test_imbalance import (
    EVEN,
    HEAVY,
    LEADING,
    NOW,
    SCHEDULE,
    SUNDAY,
    loads,
)

OF_ROUNDS = {"cluster-silent", "refused", "nothing-better"}
"""Said where a look or a plan fails; the rules say the others."""


def any_past(rng):
    ended_at = rng.choice([None, NOW - timedelta(minutes=rng.randrange(2_000))])
    return Past(
        is_running=rng.random() < 0.1,
        ended_at=ended_at,
        has_failed=rng.random() < 0.5,
        looked_at=rng.choice([None, NOW - timedelta(minutes=rng.randrange(20))]),
    )


def any_facts(rng):
    some = loads(*((rng.randrange(40) * GIB // 3, rng.randrange(50)) for _ in range(3)))
    unknown = (replace(EVEN[0], bytes=None), *EVEN[1:])
    return Facts(
        loads=rng.choice([EVEN, HEAVY, LEADING, some, some, unknown]),
        missing=rng.choice([0, 0, 0, 1]),
        behind=rng.choice([0, 0, 0, 2]),
        moving=rng.choice([0, 0, 0, 3]),
        under_way=rng.choice(["", "", "", "topic.create"]),
        is_healing=rng.random() < 0.1,
    )


def verdicts():
    yield ODD
    rng = random.Random(1)
    for _ in range(2_000):
        monday = replace(SUNDAY, day="monday")
        schedule = replace(
            SCHEDULE, enabled=rng.random() < 0.9, windows=rng.choice([(), (SUNDAY,), (monday,)])
        )
        yield not_due(schedule, any_past(rng), NOW) or judge(schedule, any_facts(rng))


def test_every_verdict_is_made_of_sentences_of_the_table():
    said = set()
    for found in verdicts():
        assert found.parts
        assert found.text == " ".join(part.text for part in found.parts)
        for part in found.parts:
            assert part.text == rendered(JUDGED[part.code], part.params)
            said.add(part.code)
    assert said == set(JUDGED) - OF_ROUNDS, "each of the table is said, none besides"


def test_a_verdict_takes_no_free_text():
    with pytest.raises(TypeError):
        Verdict(act=NONE, code="off", text="Scheduled rebalance is off.")
    with pytest.raises(KeyError):
        judged("Scheduled rebalance is off.")
    with pytest.raises(SentenceError):
        judged("off", said="And more.")


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            judge(SCHEDULE, Facts(loads=EVEN)),
            (
                "Brokers are at most 0 % from the mean by bytes and 0 % by leaders; above 20 %"
                " something is moved."
            ),
        ),
        (
            judge(SCHEDULE, Facts(loads=loads((16 * GIB, 20), (7 * GIB, 5), (7 * GIB, 6)))),
            (
                "Broker 1 holds 16.0 GiB, 60 % from the mean of 10.0 GiB. Broker 1 is the preferred"
                " leader of 20 partitions, 94 % from the mean of 10.3. Above 20 % the cluster is"
                " rebalanced."
            ),
        ),
        (
            not_due(SCHEDULE, Past(ended_at=NOW - timedelta(hours=5), has_failed=True), NOW),
            "The last one failed a short time ago; another look is taken in 19 hours 1 minute.",
        ),
        (
            judge(SCHEDULE, Facts(loads=EVEN, under_way="topic.create")),
            "topic.create is under way; one thing at a time.",
        ),
    ],
)
def test_the_english_is_as_it_was(found, text):
    assert found.text == text
