"""What the programs in Python share: settings in, one line of JSON a case out."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

SETTINGS: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
BOOTSTRAP: str = SETTINGS["bootstrap"]
SECURE: str = SETTINGS["secure_bootstrap"]
CA: str = SETTINGS["ca"]
RUN: str = SETTINGS["run"]
PASSWORDS: dict[str, str] = SETTINGS["passwords"]
SKIP: dict[str, str] = SETTINGS["skip"]
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
RECORDS = 60
MECHANISMS = {
    "sasl.plain": "PLAIN",
    "sasl.scram256": "SCRAM-SHA-256",
    "sasl.scram512": "SCRAM-SHA-512",
}


class AbsentError(Exception):
    """The client, as it is installed here, has no way to do it."""


def values(label: str) -> list[str]:
    return [f"{label}-{number}" for number in range(RECORDS)]


def run(version: str, cases: dict[str, Callable[[], object]]) -> None:
    """Run the cases in their order and print how each went."""
    print(json.dumps({"version": version}), flush=True)
    only = SETTINGS.get("only") or list(cases)
    for name, case in cases.items():
        if name not in only or name in SKIP:
            continue
        began = time.monotonic()
        status, detail = "passed", ""
        try:
            case()
        except AbsentError as error:
            status, detail = "absent", str(error)
        except Exception as error:
            status, detail = "failed", f"{type(error).__name__}: {error}"
            traceback.print_exc()
        took_ms = round((time.monotonic() - began) * 1000)
        line = {"case": name, "status": status, "detail": detail[:300], "ms": took_ms}
        print(json.dumps(line), flush=True)
    print(json.dumps({"done": True}), flush=True)


def eventually(check: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if check():
            return
        time.sleep(0.1)
    raise AssertionError(f"not within {seconds} s: {what}")
