"""A page's parts: each with its own status, and no answer crosses a tenant."""

import threading
from datetime import UTC, datetime

import pytest

from console.parts import FRESH_S, Aged, Part, PartRunner
from controlplane.common.problems import NotFound, Unavailable


class Clock:
    now_s = 0.0

    def __call__(self):
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def runner(clock, monkeypatch):
    monkeypatch.setattr("console.parts.close_old_connections", lambda: None)
    return PartRunner(monotonic=clock, wall=lambda: datetime(2026, 1, 2, tzinfo=UTC))


def failing():
    raise Unavailable("The brokers are away.")


def test_one_part_fails_and_the_other_is_there(runner):
    parts = {"good": Part(lambda: 7, remote=True), "bad": Part(failing, remote=True)}
    answer = runner.run("tn_a/page", parts)
    assert list(answer) == ["good", "bad"]
    assert (answer["good"]["status"], answer["good"]["data"]) == ("ok", 7)
    assert answer["bad"]["status"] == "unavailable"
    assert answer["bad"]["reason"] == "The brokers are away."


def test_a_part_that_was_there_is_given_as_stale_with_its_age(runner, clock):
    runner.run("tn_a/page", {"part": Part(lambda: [1], remote=True)})
    clock.now_s += FRESH_S + 1
    answer = runner.run("tn_a/page", {"part": Part(failing, remote=True)})["part"]
    assert (answer["status"], answer["data"]) == ("stale", [1])
    assert answer["as_of"] == "2026-01-02T00:00:00Z"


@pytest.mark.parametrize(
    ("kept_on", "shown"),
    [(datetime(2026, 1, 1, tzinfo=UTC), "own"), (datetime(2026, 1, 3, tzinfo=UTC), "stored")],
)
def test_what_the_service_keeps_is_shown_where_it_is_newer(runner, clock, kept_on, shown):
    part = Part(failing, remote=True, kept=lambda: Aged("stored", kept_on))
    alone = runner.run("tn_b/page", {"part": part})["part"]
    assert (alone["status"], alone["data"]) == ("stale", "stored")
    assert alone["reason"] == "The brokers are away."
    runner.run("tn_a/page", {"part": Part(lambda: "own", remote=True)})
    clock.now_s += FRESH_S + 1
    assert runner.run("tn_a/page", {"part": part})["part"]["data"] == shown


@pytest.mark.parametrize("kept", [lambda: None, lambda: 1 / 0])
def test_a_part_of_which_nothing_is_kept_is_unavailable(runner, kept):
    found = runner.run("tn_a/page", {"part": Part(failing, remote=True, kept=kept)})["part"]
    assert (found["status"], found["reason"]) == ("unavailable", "The brokers are away.")


def test_kept_answers_belong_to_their_scope(runner):
    runner.run("tn_a/page", {"part": Part(lambda: "secret", remote=True)})
    answer = runner.run("tn_b/page", {"part": Part(failing, remote=True)})["part"]
    assert (answer["status"], answer["data"]) == ("unavailable", None)


def test_many_viewers_cost_as_one_while_the_answer_is_fresh(runner, clock):
    asked = []
    part = {"part": Part(lambda: asked.append(1) or len(asked), remote=True)}
    assert runner.run("tn_a/page", part)["part"]["data"] == 1
    assert runner.run("tn_a/page", part)["part"]["data"] == 1
    clock.now_s += FRESH_S
    assert runner.run("tn_a/page", part)["part"]["data"] == 2


def test_a_late_part_says_so_and_is_not_started_twice(runner):
    release, asked = threading.Event(), []

    def slow():
        asked.append(1)
        release.wait(10)
        return "at last"

    part = {"part": Part(slow, remote=True, deadline_s=0.0)}
    try:
        for _ in range(2):
            answer = runner.run("tn_a/page", part)["part"]
            assert answer["status"] == "unavailable"
            assert answer["reason"] == "The cluster did not answer in time."
        assert asked == [1]
    finally:
        release.set()


def test_a_bug_is_reported_without_its_insides(runner):
    answer = runner.run("tn_a/page", {"part": Part(lambda: 1 / 0)})["part"]
    assert answer["status"] == "unavailable"
    assert "division" not in answer["reason"]


def test_a_missing_subject_fails_the_page(runner):
    def gone():
        raise NotFound("Cluster not found.")

    with pytest.raises(NotFound):
        runner.run("tn_a/page", {"part": Part(gone, remote=True)})
