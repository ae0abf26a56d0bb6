"""What is said of a difference comes from its code and its parameters."""

import ast
from pathlib import Path

import pytest

from controlplane.common.sentences import names_in
from controlplane.observed.drift_sentences import (
    DIFFERENCES,
    PROBLEMS,
    UNREAD,
    difference_said,
    problem_said,
    unread_said,
)

SERVICE = Path(__file__).parents[3] / "controlplane"


def test_every_sentence_is_said_and_every_one_that_is_said_is_there():
    said = "\n".join(
        path.read_text() for path in SERVICE.rglob("*.py") if path.name != "drift_sentences.py"
    )
    assert [code for code in DIFFERENCES if f'"{code}"' not in said] == []
    calls = [
        node
        for node in ast.walk(ast.parse(said.replace("from __future__", "#")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "difference_said"
    ]
    fixed = [call for call in calls if isinstance(call.args[0], ast.Constant)]
    assert len(fixed) >= 5
    for call in fixed:
        given = {word.arg for word in call.keywords}
        assert None in given or given == names_in(DIFFERENCES[call.args[0].value])


@pytest.mark.parametrize(
    ("code", "params", "text"),
    [
        (
            "topic",
            {"field": "retention.ms", "observed": None, "desired": "7"},
            "retention.ms is not set at the brokers; the last verified operation left 7.",
        ),
        (
            "user",
            {"name": "app", "observed": None, "desired": "SCRAM-SHA-256"},
            "The user app has no login; the last verified operation left a login by SCRAM-SHA-256.",
        ),
        (
            "quota/client-of-user",
            {"key": "k", "client": "etl", "user": None, "observed": "1", "desired": None},
            "k of client id etl of every user is 1; the last verified operation took it away.",
        ),
        (
            "setting/own",
            {"key": "k", "observed": "1", "desired": None, "brokers": "1, 2", "more": 3},
            "k is 1 (of broker 1, 2 and 3 more alone); nobody set it.",
        ),
    ],
)
def test_what_is_null_is_not_set(code, params, text):
    said = difference_said(code, **params)
    assert said == {"text": text, "text_code": code, "params": params}


def test_every_reason_is_said_and_every_one_that_is_said_is_there():
    said = "\n".join(
        path.read_text() for path in SERVICE.rglob("*.py") if path.name != "drift_sentences.py"
    )
    assert [code for code in (*PROBLEMS, *UNREAD) if f'"{code}"' not in said] == []


def test_a_reason_has_its_code_and_its_parameters_and_none_is_no_sentence():
    assert problem_said("back", "too-many", most=1000) == {
        "back_problem": "More than 1000 partitions differ: make plans of parts of them.",
        "back_problem_code": "too-many",
        "back_problem_params": {"most": 1000},
    }
    assert problem_said("adopt") == {
        "adopt_problem": "",
        "adopt_problem_code": None,
        "adopt_problem_params": {},
    }
    assert unread_said("not-whole", brokers="1, 2") == {
        "unread": "Of broker 1, 2 not all of the audit log could be read.",
        "unread_code": "not-whole",
        "unread_params": {"brokers": "1, 2"},
    }
    assert unread_said() == {"unread": "", "unread_code": None, "unread_params": {}}


@pytest.mark.parametrize("code", PROBLEMS)
def test_every_reason_takes_what_its_template_names(code):
    params = dict.fromkeys(names_in(PROBLEMS[code]), 3)
    assert "3" in problem_said("back", code, **params)["back_problem"] or not params
