"""Apache Kafka's own jars, for tests and benchmarks only: `python -m tests.kafka_jars --dir DIR`.

Resolved once by the Ivy inside PySpark (no Maven needed), with a home of its own so that nothing
of the user's is touched, checked by SHA-256, used offline afterwards.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spark_analytics.io.jars import JarsError, bring, expected_hashes

PACKAGES = (
    "org.apache.kafka:kafka_2.13:3.9.1",
    "org.apache.kafka:kafka-tools:3.9.1",
    "org.apache.kafka:kafka-streams:3.9.1",
    "org.slf4j:slf4j-nop:1.7.36",
)
# The tools name Kafka Connect for one command of theirs, and that a web server.
EXCLUDES = (
    "org.apache.kafka:connect-api",
    "org.apache.kafka:connect-json",
    "org.apache.kafka:connect-runtime",
    "org.slf4j:slf4j-reload4j",
)
HASHES_FILE = Path(__file__).with_name("kafka_jars.sha256")
DIRECTORY = Path(__file__).resolve().parents[1] / "build" / "kafka"


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
    return bring(PACKAGES, directory, HASHES_FILE, excludes=EXCLUDES)


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
