"""The runbooks of `deploy/runbooks`: each rule has one, and what they name is there."""

import json
from pathlib import Path

import pytest
import yaml

from controlplane.alerts.host_rules import EVERY_BY_ID
from controlplane.operations.operations import kind_of
from controlplane.runbooks.apps import _runbooks_are_right
from controlplane.runbooks.catalogue import CONTEXT, catalogue, load
from controlplane.runbooks.checks import CHECKS
from controlplane.runbooks.document import RunbookError, filled
from deploy.local.config import REPOSITORY
from tests.controlplane.live.incidents.staging import STAGED
from tests.controlplane.runbooks.test_document import GOOD

DIRECTORY = REPOSITORY / "deploy" / "runbooks"
# Alert rule → the runbook that it leads to.
RULES = {rule.id: rule.runbook for rule in EVERY_BY_ID.values()}
# What a blank may be filled in with.
SAMPLES = {
    "cluster": "cl_1",
    "group": "readers",
    "topic": "orders",
    "broker": 1,
    "operation": "op_1",
    "user": "app",
    "alert": "al_1",
    "partition": 0,
    "partitions": 6,
    "target_brokers": [1, 2],
    "retention_ms": 86_400_000,
    "mechanism": "SCRAM-SHA-512",
    "directory": "fast",
}
ALL = sorted(catalogue().values(), key=lambda each: each.id)
BLOCKS = [(each.id, block) for each in ALL for block in each.blocks]
ACTS = [(name, block) for name, block in BLOCKS if block.is_act]


@pytest.mark.parametrize(("rule", "runbook"), RULES.items())
def test_every_alert_rule_leads_to_a_runbook_that_names_it(rule, runbook):
    found = catalogue()[runbook]
    assert rule in found.alerts
    assert found.checks, "one can look at something"


def test_every_rule_s_incident_is_staged_once_and_its_runbook_was_followed():
    assert sorted(rule for each in STAGED for rule in each.rules) == sorted(RULES)
    never = [each for each in set(RULES.values()) if catalogue()[each].last_verified is None]
    assert not never


def test_no_two_runbooks_are_of_one_alert():
    alerts = [alert for each in ALL for alert in each.alerts]
    assert len(alerts) == len(set(alerts))


def test_every_prometheus_alert_leads_to_the_runbook_that_names_it():
    for name in ("brokers.yml", "controlplane.yml"):
        written = yaml.safe_load((REPOSITORY / "deploy" / "prometheus" / name).read_text())
        for rule in written["groups"][0]["rules"]:
            file = rule["annotations"]["runbook"].partition("#")[0].rpartition("/")[2]
            assert rule["alert"] in catalogue()[file.removesuffix(".md")].alerts


def test_every_alert_that_a_runbook_names_is_one():
    known = {
        rule["alert"]
        for name in ("brokers.yml", "controlplane.yml")
        for rule in yaml.safe_load((REPOSITORY / "deploy" / "prometheus" / name).read_text())[
            "groups"
        ][0]["rules"]
    }
    assert {alert for each in ALL for alert in each.alerts} <= known | RULES.keys()


def test_the_index_has_every_runbook():
    index = (DIRECTORY / "README.md").read_text()
    for each in ALL:
        assert f"[{each.title}]({each.id}.md)" in index


def test_every_check_is_used_in_some_runbook():
    assert {block.name for _, block in BLOCKS if not block.is_act} == set(CHECKS)


@pytest.mark.parametrize(("name", "block"), ACTS, ids=lambda v: getattr(v, "name", v))
def test_every_act_filled_in_is_what_its_kind_takes(name, block):
    values = filled(dict(block.values), SAMPLES)
    values.pop("cluster")
    shape = kind_of(block.name).inputs(data=values)
    assert shape.is_valid(), shape.errors
    assert json.dumps(values)


@pytest.mark.parametrize(("name", "block"), BLOCKS, ids=lambda v: getattr(v, "name", v))
def test_the_answers_that_blanks_have_are_taken_too(name, block):
    given = {name: SAMPLES[name] for name, answer in block.blanks.items() if answer is None}
    values = filled(dict(block.values), given)
    if block.is_act:
        values.pop("cluster")
        assert kind_of(block.name).inputs(data=values).is_valid()
    else:
        assert set(block.blanks) <= set(CONTEXT)


def test_a_group_losing_data_can_be_helped():
    assert [act.name for act in catalogue()["group-losing-data"].acts] == [
        "topic.retention_lease",
        "topic.retention_restore",
    ]


# -- what is wrong is found


@pytest.fixture
def one(tmp_path):
    def write(old="", new=""):
        text = GOOD.replace("See [another](other.md#some-section).", "See.")
        assert old in text
        (tmp_path / "a-case.md").write_text(text.replace(old, new, 1) if old else text)
        return tmp_path

    return write


def test_a_directory_of_one_right_file_is_read(one):
    assert set(load(one())) == {"a-case"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("```check group-lag", "```check group-lags", "there is no check"),
        (
            "group: {group}\n```\n\n```",
            "topics: {topic}\ngroup: {group}\n```\n\n```",
            "does not take",
        ),
        ("cluster: {cluster}\ngroup: {group}\n```\n\n```", "cluster: c\n```\n\n```", "needs group"),
        ("group: {group}\n```\n\n```", "group: {anything}\n```\n\n```", "is filled in by"),
        ("act offset.reset", "act offset.forget", "no kind of operation"),
        ("strategy: shift\n", "", "needs strategy"),
        ("strategy: shift", "strategy: shift\nforce: true", "does not take force"),
        ("title: Step over\ncluster: {cluster}\n", "title: Step over\n", "takes a cluster"),
        ("Panic.", "See [x](nowhere.md).", "leads to nowhere.md"),
        ("Panic.", "See [x](a-case.md#nowhere).", "leads to a-case.md#nowhere"),
    ],
)
def test_what_names_nothing_is_found(one, old, new, said):
    text = new
    if "check group-lags" in new:
        directory = one(old, new)
        file = directory / "a-case.md"
        file.write_text(file.read_text().replace("`group-lag`", "`group-lags`"))
    else:
        directory = one(old, text)
    with pytest.raises(RunbookError, match=said):
        load(directory)


def test_an_empty_directory_is_no_catalogue(tmp_path):
    with pytest.raises(RunbookError, match="holds 0 runbooks"):
        load(tmp_path)


def test_the_service_says_when_it_starts_what_is_wrong(settings, one):
    assert _runbooks_are_right(None) == []
    settings.RUNBOOKS_DIR = str(one("strategy: shift\n", ""))
    catalogue.cache_clear()
    try:
        (error,) = _runbooks_are_right(None)
    finally:
        settings.RUNBOOKS_DIR = Path(DIRECTORY)
        catalogue.cache_clear()
    assert error.id == "runbooks.E001"
    assert "needs strategy" in error.msg
