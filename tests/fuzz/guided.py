"""The coverage-guided engine: atheris (libFuzzer for Python), where it is installed.

It sees branches and comparisons of the modules below, and of the readers that the compiler of the
wire codec generates. Inputs that reached something new are kept and changed again.
"""

from __future__ import annotations

import builtins
import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

INSTRUMENTED = [
    "dataplane.wire",
    "dataplane.security.jwt_claims",
    "dataplane.security.oauthbearer",
    "dataplane.security.plain",
    "dataplane.security.sasl",
    "dataplane.security.scram",
    "dataplane.security.unsecured_tokens",
    "dataplane.log.appending",
    "dataplane.log.producers",
    "dataplane.groups.records",
    "dataplane.broker.networking.frame_buffer",
    "dataplane.server.dispatch",
]
_CHECK_EVERY = 256


def is_available() -> bool:
    return importlib.util.find_spec("atheris") is not None


def fuzz(name: str, *, seconds: float, seed: int, corpus: Path, report: Path) -> NoReturn:
    """Fuzz one target, write what happened to `report` as JSON, and end the process.

    `corpus` is a directory for inputs that reached something new; the next run begins with them.
    """
    import atheris

    if any(module.startswith("dataplane.wire") for module in sys.modules):
        raise RuntimeError("what is to be instrumented was imported before")
    with atheris.instrument_imports(include=INSTRUMENTED):
        from dataplane.wire import compiler
        from tests.fuzz.targets import all_targets

    def compile_instrumented(source: str, filename: str, mode: str) -> Any:
        return atheris.patch_code(builtins.compile(source, filename, mode), trace_dataflow=True)

    compiler.compile = compile_instrumented  # type: ignore[attr-defined]

    from tests.fuzz.mutation import INPUT_BYTES_MAX, Mutator
    from tests.fuzz.watch import Watch, name_of

    watch = Watch(all_targets()[name])
    corpus.mkdir(parents=True, exist_ok=True)
    for data in watch.target.seeds():
        (corpus / name_of(data)).write_bytes(data)
        watch.take_seed(data)
    ends_s = time.monotonic() + seconds
    mutator = Mutator(watch.target.seeds(), seed)

    def changed(data: bytes, bytes_max: int, chance: int) -> bytes:
        # Every other change knows what a protocol is made of, the rest are libFuzzer's own.
        return mutator.changed(data)[:bytes_max] if chance & 1 else atheris.Mutate(data, bytes_max)

    def one(data: bytes) -> None:
        watch.take(data)
        if watch.inputs % _CHECK_EVERY == 0 and time.monotonic() > ends_s:
            report.write_text(json.dumps(watch.report()))
            os._exit(0)  # libFuzzer ends a process without Python's own end

    atheris.Setup(
        [
            sys.argv[0],
            f"-seed={seed}",
            f"-max_len={INPUT_BYTES_MAX}",
            "-timeout=60",
            "-rss_limit_mb=2048",
            "-verbosity=0",
            "-print_final_stats=0",
            str(corpus),
        ],
        one,
        custom_mutator=changed,
    )
    with watch.bounded():
        atheris.Fuzz()
    raise RuntimeError("the engine ended by itself")
