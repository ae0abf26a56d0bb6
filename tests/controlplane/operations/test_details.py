"""What steps say is made of sentences of the table, by their codes and parameters."""

import ast
from pathlib import Path

import pytest

from controlplane.common.sentences import SentenceError, names_in
from controlplane.operations.details import (
    Detail,
    broker_params,
    detail_from,
    detail_of,
    phrased,
    rows_beside,
    rows_of,
    together,
)
from controlplane.operations.operations import kind_names, required_kind
from controlplane.operations.sentences.details import DETAILS, WHOLE

SERVICE = Path(__file__).parents[3] / "controlplane"
TABLES = SERVICE / "operations" / "sentences" / "details"
SAID_BY_CODE = ("operations", "clusters", "topics", "access", "groups", "reassignments")
"""The packages whose steps say everything by a code."""
PUT_TOGETHER: tuple[str, ...] = ()
"""What codes begin with of which a part is worked out."""


def sources():
    return {path: path.read_text() for path in SERVICE.rglob("*.py") if TABLES not in path.parents}


def calls(*names):
    for path, text in sources().items():
        if any(f"{name}(" in text for name in names):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names:
                    yield path, node


def test_every_sentence_that_is_said_is_there_with_its_parameters():
    found = 0
    for path, call in calls("detail_of"):
        code = call.args[0]
        if isinstance(code, ast.Constant):
            found += 1
            given = {word.arg for word in call.keywords}
            assert None in given or given == names_in(DETAILS[code.value]), (
                f"{path.name}:{call.lineno}"
            )
    assert found > 5


def test_every_sentence_is_said_somewhere():
    said = "\n".join(sources().values())
    silent = [
        code for code in DETAILS if f'"{code}"' not in said and not code.startswith(PUT_TOGETHER)
    ]
    assert silent == []


def test_no_sentence_is_there_twice():
    codes: dict[str, list[str]] = {}
    for code, template in DETAILS.items():
        codes.setdefault(template, []).append(code)
    assert [each for each in codes.values() if len(each) > 1] == []


def free_texts(node):
    """What is said there without a code."""
    if isinstance(node, ast.JoinedStr | ast.Constant):
        yield from [node] if getattr(node, "value", True) else []
    elif isinstance(node, ast.IfExp):
        yield from (*free_texts(node.body), *free_texts(node.orelse))
    elif isinstance(node, ast.Tuple):
        yield from (text for value in node.elts for text in free_texts(value))
    elif isinstance(node, ast.BoolOp):
        yield from (text for value in node.values for text in free_texts(value))
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "together":
        yield from (text for value in node.args for text in free_texts(value))


def test_no_step_says_a_text_without_a_code():
    for path, call in calls("Done", "Wait", "read_back", "read_back_everywhere"):
        if path.relative_to(SERVICE).parts[0] in SAID_BY_CODE:
            said = [word.value for word in call.keywords if word.arg == "detail"]
            if call.func.id == "read_back":
                said += call.args[:1]
            found = [text for value in said for text in free_texts(value)]
            assert found == [], f"{path.name}:{call.lineno}"


def test_nothing_remains_in_a_text_without_a_code():
    found = 0
    for path, call in calls("Done", "replace", "StepSpec"):
        if path.relative_to(SERVICE).parts[0] in SAID_BY_CODE:
            said = [word.value for word in call.keywords if word.arg in {"remains", "stays"}]
            found += len(said)
            texts = [text for value in said for text in free_texts(value)]
            assert texts == [], f"{path.name}:{call.lineno}"
    assert found > 40


def test_no_step_fails_with_a_text_without_a_code():
    found = 0
    for path, call in calls("StepFailedError"):
        if path.relative_to(SERVICE).parts[0] in SAID_BY_CODE:
            found += 1
            assert list(free_texts(call.args[1])) == [], f"{path.name}:{call.lineno}"
    assert found > 20


def test_no_step_of_a_kind_leaves_something_without_a_code():
    kinds = [required_kind(name) for name in kind_names()]
    said = [spec.stays for kind in kinds for spec in kind.steps if spec.stays]
    assert len(said) > 30
    assert [text for text in said if not isinstance(text, Detail)] == []


def test_what_remains_is_whole_sentences():
    found = {code: text for code, text in DETAILS.items() if code.startswith(WHOLE)}
    assert len(found) > 40
    assert [code for code, text in found.items() if not text.endswith(".")] == []


def test_no_broker_differs_in_a_text_without_a_code():
    found = 0
    for path, text in sources().items():
        if path.relative_to(SERVICE).parts[0] in SAID_BY_CODE and "def differing(" in text:
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and node.name == "differing":
                    found += 1
                    said = [each.value for each in ast.walk(node) if isinstance(each, ast.Return)]
                    texts = [text for value in said for text in free_texts(value)]
                    assert texts == [], f"{path.name}:{node.lineno}"
    assert found > 2


def test_a_detail_is_its_english_and_knows_its_parts():
    found = detail_of("read-back/asked", asked=1, brokers=3)
    assert found == "asked 1 of 3 brokers so far"
    assert rows_of(found) == [
        {
            "code": "read-back/asked",
            "params": {"asked": 1, "brokers": 3},
            "text": "asked 1 of 3 brokers so far",
        }
    ]
    assert rows_of("no answer") == rows_of("") == []


def test_parts_stand_one_after_the_other_and_one_that_leads_before_the_next():
    found = together(
        detail_of("read-back/as-planned"),
        "",
        detail_of("lead/unknown"),
        detail_of("read-back/silent", **broker_params([3, 2])),
        detail_of("read-back/refused", error="NOT_CONTROLLER", **broker_params([4])),
        "as the disk says",
    )
    assert found == (
        "read back as planned; unknown: brokers 2, 3 did not answer;"
        " broker 4 refused (NOT_CONTROLLER); as the disk says"
    )
    assert [row["code"] for row in rows_of(found)] == [
        "read-back/as-planned",
        "lead/unknown",
        "read-back/silent",
        "read-back/refused",
        "as-it-came",
    ]
    kept = detail_from(rows_of(found))
    assert (kept, rows_of(kept)) == (found, rows_of(found))
    assert together() == together("") == ""
    assert isinstance(together(found, found), Detail)


def test_whole_sentences_have_a_space_between_them():
    found = together(
        detail_of("remains/restarted", **broker_params([2])),
        detail_of("remains/not-restarted", **broker_params([3, 1])),
    )
    assert found == "Restarted: broker 2. Not restarted: brokers 1, 3."
    assert len(rows_of(found)) == 2


def test_codes_in_parameters_are_called_as_the_phrases_say():
    titles = {"topic.create/create": "Create the topic", "topic.create/remove": "Remove it"}
    steps = {"did_step": "topic.create/create", "back_step": "topic.create/remove"}
    found = phrased(
        "remains/may-stay/failed",
        {**steps, "reason": None},
        {"did_step": titles, "back_step": titles},
    )
    assert found == "What “Create the topic” did may stay: “Remove it” failed."
    assert rows_of(found)[0]["params"]["did_step"] == "topic.create/create"


def test_parts_stand_beside_the_text_that_they_are_of():
    row = rows_of(detail_of("remains/login"))
    text = detail_of("remains/login")
    assert rows_beside([text], [row]) == [row]
    # A version that keeps no parts has said one more, another one, or has taken all away.
    assert rows_beside([text, "b"], [row]) == [row, []]
    assert rows_beside(["b"], [row]) == [[]]
    assert rows_beside([], [row]) == []


def test_other_parameters_are_a_mistake():
    with pytest.raises(SentenceError):
        detail_of("read-back/as-planned", brokers=3)
