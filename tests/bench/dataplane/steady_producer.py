"""`python -m tests.bench.dataplane.steady_producer BOOTSTRAP TOPIC`: a record every 5 ms.

A stock librdkafka, idempotent, until a line (or the end) comes on stdin. It prints `steady` when
acknowledgements flow; at the end it waits for what is open and prints the times of all of them. A record that failed ends it with exit code 1;
so does a silence that still lasts.
"""

from __future__ import annotations

import json
import sys
import threading
import time

from confluent_kafka import Producer

INTERVAL_S = 0.005
FLUSH_S = 40.0
STEADY_ACKS = 100
SILENT = 2  # librdkafka's log level: a killed broker is no news here


def main(bootstrap: str, topic: str) -> int:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": SILENT}
    )
    acknowledged_s: list[float] = []
    errors: list[str] = []

    def on_delivery(error: object, _message: object) -> None:
        if error is None:
            acknowledged_s.append(time.perf_counter())
            if len(acknowledged_s) == STEADY_ACKS:
                print("steady", flush=True)
        else:
            errors.append(str(error))

    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    while not stop.is_set():
        producer.produce(topic, b"x" * 100, on_delivery=on_delivery)
        producer.poll(INTERVAL_S)
    left = producer.flush(FLUSH_S)
    json.dump(acknowledged_s, sys.stdout)
    if errors or left:
        sys.stderr.write(f"{left} records open, {len(errors)} failed {errors[:1]}\n")
    return 1 if errors or left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
