"""Spark's Kafka connector and Iceberg: resolved once at set-up, checked by SHA-256.

Spark's own Ivy resolves them, with a cache of this project and a home directory of this project, so
that a half-filled Maven cache of the user cannot break it. What PySpark ships already is excluded.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PACKAGES = (
    "org.apache.spark:spark-sql-kafka-0-10_2.13:4.0.0",
    "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.10.1",
)
BUNDLED_WITH_PYSPARK = (
    "org.apache.hadoop:hadoop-client-api",
    "org.apache.hadoop:hadoop-client-runtime",
    "org.slf4j:slf4j-api",
    "org.lz4:lz4-java",
    "org.xerial.snappy:snappy-java",
    "com.google.code.findbugs:jsr305",
    "org.scala-lang.modules:scala-parallel-collections_2.13",
)
HASHES_FILE = Path(__file__).resolve().parents[1] / "jars.sha256"
RESOLVE_TIMEOUT_S = 300.0
# Resolving needs a session's submit step and nothing else.
_RESOLVE_PROGRAM = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
for setting in sys.argv[1:]:
    builder = builder.config(*setting.split("=", 1))
builder.getOrCreate().stop()
"""


class JarsError(Exception):
    """A jar is not there, or not what was checked in; one line for people."""


def expected_hashes(hashes_file: Path = HASHES_FILE) -> dict[str, str]:
    """File name to SHA-256, as `sha256sum` writes it."""
    lines = [line.split() for line in hashes_file.read_text().splitlines() if line.strip()]
    return {name: digest for digest, name in lines}


def missing_or_wrong(jars_dir: Path, expected: dict[str, str]) -> list[str]:
    """The names of jars that are absent or differ, sorted."""
    return sorted(
        name
        for name, digest in expected.items()
        if not (jars_dir / name).is_file() or _sha256(jars_dir / name) != digest
    )


def jar_paths(jars_dir: Path) -> list[Path]:
    """The jars of every run, for `spark.jars`.

    Raises:
        JarsError: one is missing; contents are checked at set-up, not at each run.
    """
    paths = [jars_dir / name for name in sorted(expected_hashes())]
    absent = [path.name for path in paths if not path.is_file()]
    if absent:
        raise JarsError(
            f"{jars_dir} lacks {absent[0]}; run `python -m spark_analytics jars --dir {jars_dir}`"
        )
    return paths


def fetch(jars_dir: Path) -> bool:
    """Bring the jars into `jars_dir`. True when something was fetched.

    Raises:
        JarsError: one could not be resolved, or a file is not the one that was checked in.
    """
    return bring(PACKAGES, jars_dir, HASHES_FILE, excludes=BUNDLED_WITH_PYSPARK)


def bring(
    packages: Sequence[str], jars_dir: Path, hashes_file: Path, *, excludes: Sequence[str] = ()
) -> bool:
    """`fetch` for any packages (`group:name:version`) whose files `hashes_file` lists."""
    expected = expected_hashes(hashes_file)
    if not missing_or_wrong(jars_dir, expected):
        return False
    jars_dir.mkdir(parents=True, exist_ok=True)
    # Ivy takes absolute directories only.
    with tempfile.TemporaryDirectory(prefix=".resolve-", dir=jars_dir.absolute()) as scratch:
        resolved = _resolve(packages, excludes, Path(scratch))
        wrong = missing_or_wrong(resolved, expected)
        if wrong:
            raise JarsError(
                f"{wrong[0]} was resolved but is not the file listed in {hashes_file.name}"
            )
        for name in expected:
            (resolved / name).replace(jars_dir / name)
    return True


def _resolve(packages: Sequence[str], excludes: Sequence[str], scratch: Path) -> Path:
    settings = {
        "spark.jars.packages": ",".join(packages),
        "spark.jars.excludes": ",".join(excludes),
        "spark.jars.ivy": str(scratch / "ivy"),
    }
    # A site behind its own mirror brings its own Ivy settings.
    if site := os.environ.get("PENSTOCK_SPARK_IVY_SETTINGS"):
        settings["spark.jars.ivySettings"] = site
    command = [sys.executable, "-c", _RESOLVE_PROGRAM]
    command += [f"{key}={value}" for key, value in settings.items()]
    home = f"-Duser.home={scratch / 'home'}"
    environment = {
        **os.environ,
        "SPARK_SUBMIT_OPTS": f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {home}".strip(),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise JarsError("Java 17+ is missing: no `java` on PATH and no JAVA_HOME")
    try:
        done = subprocess.run(
            command,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=RESOLVE_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise JarsError(f"{packages[0]} was not resolved within {RESOLVE_TIMEOUT_S:.0f} s") from (
            error
        )
    if done.returncode != 0:
        raise JarsError(f"{packages[0]} could not be resolved: {_reason(done.stderr)}")
    return scratch / "ivy" / "jars"


def _reason(output: str) -> str:
    """The line that a person needs out of Ivy's page."""
    for pattern in (
        r"unresolved dependency: .*",
        r"download failed: .*",
        r"(?:Error|Exception): .*",
    ):
        if found := re.search(pattern, output):
            return found.group(0).strip()
    lines = output.strip().splitlines()
    return lines[-1].strip() if lines else "no reason given"


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
