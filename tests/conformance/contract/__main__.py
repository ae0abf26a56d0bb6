"""`python -m tests.conformance.contract`: every client through the contract; results and the page."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import sys
import tempfile
import tomllib
import uuid
from pathlib import Path
from typing import Any

from tests.conformance.contract import matrix
from tests.conformance.contract.cases import CASES
from tests.conformance.contract.clients import CLIENTS, Client, run
from tests.conformance.contract.cluster import PASSWORDS, contract_cluster
from tests.conformance.raw_client import offered_versions

LOGS = matrix.ROOT / "build" / "conformance"


def penstock_version() -> str:
    return str(tomllib.loads((matrix.ROOT / "pyproject.toml").read_text())["project"]["version"])


def not_offered(bootstrap: str) -> dict[str, str]:
    """Case to reason, for those whose APIs the brokers lack."""
    offered = offered_versions(bootstrap)
    absent = {case.name: [api for api in case.needs if api not in offered] for case in CASES}
    return {name: f"the brokers lack {', '.join(apis)}" for name, apis in absent.items() if apis}


def run_all(clients: list[Client], only: list[str]) -> list[dict[str, Any]]:
    """Results of those clients that can be run here; the others are said on standard error."""
    LOGS.mkdir(parents=True, exist_ok=True)
    found = []
    with (
        tempfile.TemporaryDirectory(prefix="contract-") as directory,
        contract_cluster(Path(directory)) as made,
    ):
        settings = {
            "bootstrap": made.cluster.bootstrap,
            "secure_bootstrap": made.cluster.bootstraps["SASL_SSL"],
            "ca": str(made.authority),
            "passwords": PASSWORDS,
            "tokens": made.tokens,
            "run": f"c{uuid.uuid4().hex[:6]}",
            "skip": not_offered(made.cluster.bootstrap),
            "only": only,
        }
        for client in clients:
            if reason := client.missing():
                print(f"{client.name}: not run: {reason}", file=sys.stderr)
                continue
            result = run(client, settings, LOGS)
            result |= {
                "penstock": penstock_version(),
                "date": dt.datetime.now(dt.UTC).date().isoformat(),
            }
            found.append(result)
            show(result)
    return found


def show(result: dict[str, Any]) -> None:
    print(f"{result['client']} {result['version']}")
    for name, case in result["cases"].items():
        print(f"  {name:26} {case['status']:8} {case['ms']:>7} ms  {case['detail']}")
    sys.stdout.flush()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", default="", help="names, with commas between")
    parser.add_argument(
        "--cases", default="", help="names; then nothing is written, unless --merge"
    )
    parser.add_argument("--merge", action="store_true", help="put those cases into the results")
    options = parser.parse_args()
    names = [name for name in options.clients.split(",") if name]
    known = {client.name: client for client in CLIENTS}
    if unknown := set(names) - set(known):
        parser.error(f"no such client: {', '.join(sorted(unknown))}; there are: {', '.join(known)}")
    only = [name for name in options.cases.split(",") if name]
    results = run_all([known[name] for name in names or known], only)
    if options.merge or not only:
        matrix.RESULTS.mkdir(exist_ok=True)
        for result in results:
            path = matrix.RESULTS / f"{result['client']}.json"
            if only:
                result = matrix.merged(json.loads(path.read_text()), result, only)
            path.write_text(json.dumps(result, indent=1) + "\n")
        matrix.PAGE.write_text(matrix.render(matrix.read_results()))
        print(f"written: {matrix.PAGE.relative_to(matrix.ROOT)}")
    statuses = [case["status"] for result in results for case in result["cases"].values()]
    print(", ".join(f"{statuses.count(status)} {status}" for status in sorted(set(statuses))))
    return 1 if "failed" in statuses else 0


if __name__ == "__main__":
    sys.exit(main())
