"""The page of clients is what the results say, and the results are of the contract."""

from __future__ import annotations

import json

import pytest

from tests.conformance.contract import matrix
from tests.conformance.contract.cases import CASES, NAMES, STATUSES
from tests.conformance.contract.clients import CLIENTS, collect

FIRST = CLIENTS[0]


def line(case: str, status: str = "passed", detail: str = "") -> str:
    return json.dumps({"case": case, "status": status, "detail": detail, "ms": 3})


def result(out: list[str], skip: dict[str, str] | None = None, err: str = "") -> dict:
    found = collect(FIRST, "\n".join([json.dumps({"version": "1.2"}), *out]), err, skip or {})
    return found | {"penstock": "0.1.0", "date": "2026-01-02"}


def test_the_page_is_made_from_the_results() -> None:
    results = matrix.read_results()
    assert {each["client"] for each in results} == {client.name for client in CLIENTS}
    assert matrix.PAGE.read_text() == matrix.render(results), "run `make conformance`"


def test_every_result_is_of_the_contract() -> None:
    for each in matrix.read_results():
        assert tuple(each["cases"]) == NAMES
        assert {case["status"] for case in each["cases"].values()} <= set(STATUSES)
        assert each["version"]
        assert each["date"]


def test_a_case_without_an_answer_has_failed_unless_the_program_ended() -> None:
    begun = [line(NAMES[0]), line(NAMES[1], "failed", "E: why")]
    broken = result(begun, err="Traceback\nMemoryError")["cases"]
    assert [broken[name]["status"] for name in NAMES[:3]] == ["passed", "failed", "failed"]
    assert broken[NAMES[2]]["detail"] == "not reached: MemoryError"
    whole = result([*begun, '{"done": true}'], {NAMES[3]: "the brokers lack X"})["cases"]
    assert [whole[name]["status"] for name in NAMES[2:4]] == ["absent", "skipped"]


def test_a_program_that_says_nothing_is_no_result() -> None:
    with pytest.raises(RuntimeError, match="did not begin: no such file"):
        collect(FIRST, "", "no such file", {})


def test_marks_versions_dates_and_reasons_are_shown() -> None:
    page = matrix.render(
        [
            result(
                [line(NAMES[0]), line(NAMES[1], "failed", "E: why"), '{"done": true}'],
                {NAMES[2]: "no Y"},
            )
        ]
    )
    assert f"| {FIRST.name} | {FIRST.language} | 1.2 | 0.1.0 | 2026-01-02 |" in page
    for number, mark in enumerate(("yes", "**no**", "not yet", "–")):
        assert f"| {CASES[number].title} | {mark} |" in page
    assert f"- {NAMES[1]}: E: why ({FIRST.name})" in page
    assert f"- {NAMES[2]}: no Y" in page


def test_results_of_another_contract_are_refused() -> None:
    old = result([])
    del old["cases"][NAMES[0]]
    with pytest.raises(ValueError, match="run it again"):
        matrix.render([old])


def test_a_run_of_some_cases_leaves_the_others_as_they_were() -> None:
    before = result([line(NAMES[0]), line(NAMES[1], "failed", "E: why"), '{"done": true}'])
    del before["cases"][NAMES[2]]  # new in the contract
    run = result([line(NAMES[2]), '{"done": true}'])
    whole = matrix.merged(before, run, [NAMES[2]])
    assert tuple(whole["cases"]) == NAMES
    statuses = [whole["cases"][name]["status"] for name in NAMES[:4]]
    assert statuses == ["passed", "failed", "passed", "absent"]
    with pytest.raises(ValueError, match="run the whole contract"):
        matrix.merged(before, run | {"version": "2"}, [NAMES[2]])
