"""What Kafka's own classes know of its configuration keys: facts that are kept here.

python -m tests.dataplane.config.keys_oracle     # writes kafka_keys.json, needs Kafka's jars, a JDK
"""

from __future__ import annotations

import json
import pathlib
import subprocess

from tests.kafka_jars import class_path

SOURCE = pathlib.Path(__file__).parent / "java" / "KeysOracle.java"
EXPECTED = pathlib.Path(__file__).parent / "kafka_keys.json"
TIMEOUT_S = 60


def main() -> None:
    command = ["java", "-cp", class_path(), str(SOURCE)]
    answer = subprocess.run(command, check=True, capture_output=True, timeout=TIMEOUT_S).stdout
    kinds = []
    for kind, keys in json.loads(answer).items():
        rows = [f"{json.dumps(name)}: {json.dumps(facts)}" for name, facts in keys.items()]
        kinds.append(json.dumps(kind) + ": {\n" + ",\n".join(rows) + "\n}")
    EXPECTED.write_text("{\n" + ",\n".join(kinds) + "\n}\n")


if __name__ == "__main__":
    main()
