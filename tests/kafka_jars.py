"""Apache Kafka's own jars, for tests and benchmarks only: `python -m tests.kafka_jars --dir DIR`.

Resolved once by the Ivy inside PySpark (no Maven needed), with a home of its own so that nothing
of the user's is touched, checked by SHA-256, used offline afterwards.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from spark_analytics.io import jars
from spark_analytics.io.jars import JarsError, expected_hashes, missing_or_wrong

COORDINATES = "org.apache.kafka:kafka_2.13:3.9.1"
EXTRA_COORDINATES = "org.slf4j:slf4j-nop:1.7.36"
HASHES_FILE = Path(__file__).with_name("kafka_jars.sha256")
DIRECTORY = Path(__file__).resolve().parents[1] / "build" / "kafka"
TIMEOUT_S = 300.0


def class_path(directory: Path = DIRECTORY) -> str:
    """The class path of everything of Kafka's; JarsError if a jar is not there."""
    names = sorted(expected_hashes(HASHES_FILE))
    absent = [name for name in names if not (directory / name).is_file()]
    if absent:
        raise JarsError(f"{directory} lacks {absent[0]}; run `python -m tests.kafka_jars`")
    # Spark's Ivy leaves Scala's own library out: it is among PySpark's jars, pinned with them.
    import pyspark

    scala = sorted((Path(pyspark.__file__).parent / "jars").glob("scala-[lr]*.jar"))
    return ":".join(str(path) for path in (*(directory / name for name in names), *scala))


def fetch(directory: Path = DIRECTORY) -> bool:
    """Bring the jars into `directory`. True when something was fetched; JarsError."""
    expected = expected_hashes(HASHES_FILE)
    if not missing_or_wrong(directory, expected):
        return False
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".resolve-", dir=directory) as scratch:
        resolved = resolve(Path(scratch))
        wrong = missing_or_wrong(resolved, expected)
        if wrong:
            raise JarsError(f"{wrong[0]} was resolved but is not the file listed in {HASHES_FILE}")
        for name in expected:
            (resolved / name).replace(directory / name)
    return True


def resolve(scratch: Path) -> Path:
    """Everything that Kafka needs at run time, in a directory under `scratch`."""
    settings = {
        "spark.jars.packages": f"{COORDINATES},{EXTRA_COORDINATES}",
        "spark.jars.ivy": str(scratch / "ivy"),
    }
    if site := os.environ.get("PENSTOCK_SPARK_IVY_SETTINGS"):
        settings["spark.jars.ivySettings"] = site
    command = [sys.executable, "-c", jars._RESOLVE_PROGRAM]
    command += [f"{key}={value}" for key, value in settings.items()]
    options = f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} -Duser.home={scratch / 'home'}"
    environment = {
        **os.environ,
        "SPARK_SUBMIT_OPTS": options.strip(),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    if done.returncode != 0:
        raise JarsError(f"{COORDINATES} could not be resolved: {jars._reason(done.stderr)}")
    return scratch / "ivy" / "jars"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, default=DIRECTORY, help="where the jars go")
    try:
        fetched = fetch(parser.parse_args().dir)
    except JarsError as error:
        print(f"kafka_jars: {error}", file=sys.stderr)
        return 1
    print("fetched" if fetched else "there already")
    return 0


if __name__ == "__main__":
    sys.exit(main())
