"""The support matrix, from the results of every client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conformance.contract.cases import CASES

ROOT = Path(__file__).resolve().parents[3]
RESULTS = Path(__file__).parent / "results"
PAGE = ROOT / "dataplane" / "CLIENTS.md"
_MARKS = {"passed": "yes", "failed": "**no**", "skipped": "not yet", "absent": "–"}
_HEAD = """# Clients

What clients that others wrote do against a live cluster of three brokers. `make conformance` runs one contract of cases by every
client's own program (`tests/conformance/contract`) and writes this page from the results; it is not written by hand.

Kafka Streams (a word count with `exactly_once_v2` through kills) and Spark's own Kafka source and sink have tests of their own
beside it, as have Kafka's command-line tools (`tests/conformance/README.md`).

**yes**: passed. **no**: failed, see below. *not yet*: the brokers do not offer an API that it needs. –: the client has no way to ask.
"""


def read_results(directory: Path = RESULTS) -> list[dict[str, Any]]:
    """Every client's results, by name."""
    return [json.loads(path.read_text()) for path in sorted(directory.glob("*.json"))]


def merged(before: dict[str, Any], run: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Results of before, with those cases from a run of them alone. ValueError if the client is another one now."""
    if run["version"] != before["version"]:
        raise ValueError(f"{run['client']} is {run['version']} now: run the whole contract")
    kept = before["cases"] | {name: run["cases"][name] for name in names}
    return before | {"cases": {case.name: kept[case.name] for case in CASES if case.name in kept}}


def render(results: list[dict[str, Any]]) -> str:
    """The page. ValueError for a result that is not of the contract."""
    for result in results:
        if set(result["cases"]) != {case.name for case in CASES}:
            raise ValueError(f"{result['client']} has other cases than the contract: run it again")
    lines = [_HEAD, "| client | language | version | Penstock | run |", "|---|---|---|---|---|"]
    lines += [
        f"| {each['client']} | {each['language']} | {each['version']} | {each['penstock']} | {each['date']} |"
        for each in results
    ]
    names = " | ".join(each["client"] for each in results)
    lines += ["", f"| case | {names} |", "|---|" + "---|" * len(results)]
    for case in CASES:
        marks = " | ".join(_MARKS[each["cases"][case.name]["status"]] for each in results)
        lines.append(f"| {case.title} | {marks} |")
    remarks = _remarks(results)
    return "\n".join([*lines, "", *remarks]).rstrip() + "\n"


def _remarks(results: list[dict[str, Any]]) -> list[str]:
    """Why what is not a yes is not one, each reason once."""
    reasons: dict[str, list[str]] = {}
    for case in CASES:
        for each in results:
            found = each["cases"][case.name]
            if found["status"] == "failed" or (found["status"] == "absent" and found["detail"]):
                reasons.setdefault(f"{case.name}: {found['detail']}", []).append(each["client"])
            elif found["status"] == "skipped":
                reasons.setdefault(f"{case.name}: {found['detail']}", [])
    return [
        f"- {reason}" + (f" ({', '.join(clients)})" if clients else "")
        for reason, clients in reasons.items()
    ]
