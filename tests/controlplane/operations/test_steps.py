"""Every step of every kind is bound to the method that does it."""

import inspect

import pytest

from controlplane.operations import engine
from controlplane.operations.operations import StepSpec, kind_names, kind_of, register
from controlplane.topics.operations import TopicCreate
from tests.controlplane.support import drive


@pytest.mark.parametrize("name", kind_names())
def test_each_step_runs_a_method_of_its_kind(name):
    kind = kind_of(name)
    assert kind.steps
    for spec in kind.steps:
        bound = getattr(kind, spec.run.__name__)
        assert bound.__func__ is spec.run, f"{spec.name} runs what {type(kind).__name__} overrides"
        assert list(inspect.signature(bound).parameters) == ["context"]


@pytest.mark.parametrize("name", kind_names())
def test_no_two_steps_do_the_same(name):
    runs = [spec.run for spec in kind_of(name).steps]
    assert len(set(runs)) == len(runs)


def test_two_steps_of_one_name_are_refused():
    class Twice(TopicCreate):
        name = "topic.twice"
        steps = (TopicCreate.steps[0], TopicCreate.steps[0])

    with pytest.raises(
        ValueError, match=r"two steps of topic\.twice have one name: create, create"
    ):
        register(Twice())
    assert kind_of("topic.twice") is None


def test_a_step_that_this_version_does_not_have_fails_its_operation(world):
    operation = world.start(world.plan("topic.create", name="orders"))
    operation.steps.filter(name="create").update(name="conjure")
    ended = drive(operation)
    assert (ended.state, ended.error["code"]) == ("failed", "unknown-step")
    assert ended.error["step"] == "conjure"
    assert not world.gateway.describe_topics(["orders"])


def test_the_engine_runs_what_the_step_names_not_what_stands_at_its_place(world, monkeypatch):
    """A row keeps its step by name: steps put before it by a later version do not shift it."""
    ran = []
    operation = world.start(world.plan("topic.create", name="orders"))
    first = StepSpec(name="greet", title="", run=lambda _kind, _context: ran.append("greet"))
    monkeypatch.setattr(TopicCreate, "steps", (first, *TopicCreate.steps))
    engine.tick(operation.id)
    assert ran == []
    assert world.gateway.describe_topics(["orders"])
