"""Every warning of a plan is a sentence of the tables, made of its code and its parameters."""

import ast
from pathlib import Path

import pytest

from controlplane.common.grants import Area
from controlplane.common.sentences import SentenceError, names_in
from controlplane.operations.naming import shown_impact
from controlplane.operations.risks import Risk
from controlplane.operations.sentences import _TABLES, WARNINGS
from controlplane.operations.warnings import naming_warning, warning_of

SERVICE = Path(__file__).parents[3] / "controlplane"


def sources():
    return {path: path.read_text() for path in SERVICE.rglob("*.py")}


def calls(name):
    """Each call of a function by its name: the file, and the call."""
    for path, text in sources().items():
        if f"{name}(" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                    yield path, node


def test_no_sentence_has_two_rows():
    codes = [code for table in _TABLES for code in table]
    assert len(codes) == len(set(codes)) > 150


def test_every_sentence_that_is_said_is_there_with_its_parameters():
    taken = {"severity", "risk", "phrases"}
    found = 0
    for path, call in calls("warning_of"):
        code = call.args[0]
        if not isinstance(code, ast.Constant):
            continue
        found += 1
        assert code.value in WARNINGS, f"{path.name}:{call.lineno}"
        given = {word.arg for word in call.keywords}
        if None not in given:  # others are put together, and compared when they are said
            assert given - taken == names_in(WARNINGS[code.value]), f"{path.name}:{call.lineno}"
    assert found > 90


def test_every_sentence_is_said_somewhere():
    tables = SERVICE / "operations" / "sentences"
    said = "\n".join(text for path, text in sources().items() if tables not in path.parents)
    put_together = ("shared-host/", "shared-rack/", "not-restored/", "clients-lose-access/")
    silent = [
        code
        for code in WARNINGS
        if f'"{code.removesuffix("/hidden")}"' not in said and not code.startswith(put_together)
    ]
    assert silent == ["address-failed", "advertised-failed"]  # by the address that was tried


def test_a_warning_says_its_sentence_its_code_and_its_parameters():
    row = warning_of("fewer-replicas", "danger", risk=Risk.LOSES_DATA, partitions=2)
    assert row == {
        "code": "fewer-replicas",
        "severity": "danger",
        "risk": "loses-data",
        "text": "A replica less for 2 partitions.",
        "text_code": "fewer-replicas",
        "params": {"partitions": 2},
    }
    assert warning_of("adopts/replicas", "info")["code"] == "adopts"
    with pytest.raises(SentenceError):
        warning_of("fewer-replicas", topics=2)


def said_to(row, *names):
    """The row of a kept plan as REST shows it to who sees these groups."""
    impact = {"warnings": [row]}
    (shown,) = shown_impact(impact, lambda _area, name: name in names)["warnings"]
    return shown


def test_parameters_name_only_what_the_reader_sees():
    groups = [(name, name) for name in ("billing", "fraud")]
    row = naming_warning("active-readers", "danger", Area.GROUP, groups)
    assert row["text"] == "Reading it right now: billing, fraud."
    one = said_to(row, "fraud")
    assert one["text"] == "Reading it right now: fraud and 1 more group."
    assert (one["text_code"], one["params"]) == ("active-readers", {"names": "fraud", "more": 1})
    none = said_to(row)
    assert none["text"] == "Reading it right now: 2 groups."
    assert (none["text_code"], none["params"]) == ("active-readers/hidden", {"more": 2})
    assert "billing" not in str(one) + str(none)


def test_warnings_that_were_kept_without_codes_are_shown_as_they_are():
    plain = {"code": "no-acls", "severity": "info", "text": "Without an ACL."}
    assert said_to(plain) == plain
    names = [("billing", "billing"), ("fraud", "fraud")]
    named = {"begin": "Reading it right now:", "area": "group", "names": names, "noun": "group"}
    kept = {"code": "active-readers", "severity": "danger", "text": "…", "named": named}
    assert said_to(kept, "fraud") == {
        "code": "active-readers",
        "severity": "danger",
        "text": "Reading it right now: fraud and 1 more group.",
    }


@pytest.mark.parametrize("sentence", ["active-readers", "unread-lost"])
def test_sentences_that_stored_plans_name_stay_as_they_are(sentence):
    """They are put together when a plan is shown: without them it could not be shown any more."""
    assert names_in(WARNINGS[sentence]) == {"names", "more"}
    assert names_in(WARNINGS[f"{sentence}/hidden"]) == {"more"}
