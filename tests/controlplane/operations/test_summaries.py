"""What every plan does is a sentence of the table, made of its code and its parameters."""

import ast
from pathlib import Path

import pytest

from controlplane.access.decisions.quotas import whom
from controlplane.common.sentences import SentenceError, names_in
from controlplane.operations.operations import kind_names
from controlplane.operations.sentences.summaries import SUMMARIES
from controlplane.operations.summaries import kept_summary, summary_of

SERVICE = Path(__file__).parents[3] / "controlplane"
PUT_TOGETHER = ("quota.set/", "offset.")
"""Codes of which a part is worked out: the cases below say each."""


def texts():
    table = SERVICE / "operations" / "sentences" / "summaries.py"
    return {path: path.read_text() for path in SERVICE.rglob("*.py") if path != table}


def calls():
    for path, text in texts().items():
        if "summary_of(" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "summary_of":
                    yield path, node


def test_every_kind_has_a_sentence_and_every_sentence_a_kind():
    assert {code.partition("/")[0] for code in SUMMARIES} == set(kind_names())


def test_every_sentence_that_is_said_is_there_with_its_parameters():
    found = 0
    for path, call in calls():
        code = call.args[0]
        if isinstance(code, ast.Constant):
            found += 1
            given = {word.arg for word in call.keywords}
            assert None in given or given == names_in(SUMMARIES[code.value]), (
                f"{path.name}:{call.lineno}"
            )
    assert found > 30


def test_every_sentence_is_said_somewhere():
    said = "\n".join(texts().values())
    silent = [
        code for code in SUMMARIES if f'"{code}"' not in said and not code.startswith(PUT_TOGETHER)
    ]
    assert silent == []


def test_every_draft_has_its_sentence_by_a_code():
    for path, text in texts().items():
        for node in ast.walk(ast.parse(text)) if "PlanDraft(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "PlanDraft":
                (summary,) = [word.value for word in node.keywords if word.arg == "summary"]
                strings = isinstance(summary, ast.JoinedStr | ast.Constant)
                assert not strings, f"{path.name}:{node.lineno}"


@pytest.mark.parametrize(
    ("code", "params", "text"),
    [
        (
            "topic.create",
            {"topic": "sales", "partitions": 1, "replicas": 3},
            "Create sales: 1 partition, 3 replicas each.",
        ),
        (
            "topic.update/adopted",
            {"topic": "sales", "settings": 1},
            "Take over 1 setting of sales as the brokers have it.",
        ),
        (
            "topic.retention_restore",
            {"topic": "sales", "before_ms": None},
            "Put the retention of sales back to its default.",
        ),
        (
            "acl.delete/adopted",
            {"rules": 2},
            "Take over that 2 access rules are gone.",
        ),
        (
            "cluster.replace_broker/given-up",
            {"broker": "2", "replicas": 1},
            "Give up broker 2 where it is, and have another host run it; 1 replica is read anew.",
        ),
        (
            "offset.reset",
            {
                "partitions": 3,
                "group": "etl",
                "reread": 1,
                "skipped": 0,
                "first_read": 4,
                "removed": 2,
            },
            (
                "Move 3 partitions of etl: 1 record read again, 0 skipped, 4 to be read from there"
                " on, the commit removed in 2 partitions."
            ),
        ),
        (
            "offset.restore",
            {
                "partitions": 3,
                "group": "etl",
                "reread": 2,
                "skipped": 5,
                "first_read": 0,
                "removed": 0,
            },
            "Move 3 partitions of etl: 2 records read again, 5 skipped.",
        ),
        (
            "offset.restore/removed",
            {"partitions": 2, "group": "etl"},
            "Remove the commit of etl in 2 partitions.",
        ),
    ],
)
def test_a_summary_says_its_sentence_its_code_and_its_parameters(code, params, text):
    row = {"summary": text, "summary_code": code, "summary_params": params}
    assert summary_of(code, **params).as_row() == row
    assert kept_summary(row) == row


@pytest.mark.parametrize(
    ("of", "form"),
    [
        ({"user": "app"}, "user"),
        ({"user": None}, "user"),
        ({"client_id": "etl"}, "client"),
        ({"client_id": None}, "client"),
        ({"user": "app", "client_id": None}, "client-of-user"),
        ({"user": None, "client_id": "etl"}, "client-of-user"),
    ],
)
def test_the_owner_of_a_quota_is_said_as_its_lock_is_called(of, form):
    entity = whom(of)
    assert entity.code == form
    said = summary_of(f"quota.set/{entity.code}", **entity.named)
    assert said.text == f"Set the quotas of {entity.words}."
    taken = summary_of(f"quota.set/adopted-{entity.code}", **entity.named)
    assert taken.text == f"Take over the quotas of {entity.words} as the brokers have them."


def test_other_parameters_are_a_mistake():
    with pytest.raises(SentenceError):
        summary_of("topic.delete", group="etl")


def test_a_plan_that_was_kept_without_a_code_is_shown_by_its_english():
    kept = {"summary": "Create sales.", "warnings": []}
    assert kept_summary(kept) == {
        "summary": "Create sales.",
        "summary_code": None,
        "summary_params": {},
    }
    assert kept_summary({})["summary"] == ""
