"""Producing, consuming and watching with clients that others wrote."""

import http.cookiejar
import json
import threading
import time
import urllib.request
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition


class Clients:
    """By SCRAM; under TLS where there is an authority to trust."""

    def __init__(self, bootstrap: str, secret: dict[str, str], *, ca_pem: str = "") -> None:
        tls = {"security.protocol": "SASL_SSL", "ssl.ca.pem": ca_pem}
        self.config = {
            "bootstrap.servers": bootstrap,
            **(tls if ca_pem else {"security.protocol": "SASL_PLAINTEXT"}),
            "sasl.mechanism": secret["mechanism"],
            "sasl.username": secret["username"],
            "sasl.password": secret["password"],
        }

    def produce(self, topic: str, records: int, *, size: int = 100, partition: int = -1) -> None:
        """All of them acknowledged by every in-sync replica, or an exception."""
        errors: list[Any] = []
        producer = Producer(
            {**self.config, "acks": "all", "message.timeout.ms": 20_000, "linger.ms": 5}
        )
        for index in range(records):
            producer.produce(
                topic,
                key=str(index),
                value=b"x" * size,
                partition=partition,
                on_delivery=lambda error, _message: errors.append(error) if error else None,
            )
            producer.poll(0)
        producer.flush(30)
        if errors:
            raise KafkaException(errors[0])

    def consumer(self, group: str) -> Consumer:
        return Consumer(
            {
                **self.config,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
            }
        )

    def read(self, topic: str, group: str, count: int, *, timeout_s: float = 30.0) -> list[Any]:
        """(partition, offset) of up to `count` records, committed; the group is left empty."""
        consumer = self.consumer(group)
        consumer.subscribe([topic])
        found: list[Any] = []
        deadline_s = time.monotonic() + timeout_s
        try:
            while len(found) < count and time.monotonic() < deadline_s:
                message = consumer.poll(0.2)
                if message is None:
                    continue
                if message.error():
                    raise KafkaException(message.error())
                found.append((message.partition(), message.offset()))
            if found:
                ends: dict[int, int] = {}
                for partition, offset in found:
                    ends[partition] = offset + 1
                consumer.commit(
                    offsets=[TopicPartition(topic, part, at) for part, at in ends.items()],
                    asynchronous=False,
                )
        finally:
            consumer.close()
        return found


class Watcher:
    """A signed-in browser that follows one operation by server-sent events."""

    def __init__(self, address: str, login: dict[str, str], operation_id: str) -> None:
        self.seen: list[dict[str, Any]] = []
        self._address = address
        jar = http.cookiejar.CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        token = self._read("/console/api/session")["csrf_token"]
        body = {"username": login["username"], "password": login["password"]}
        self._read("/console/api/login", body, token)
        stream = self._opener.open(
            f"{address}/console/events/operations/{operation_id}", timeout=60
        )
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        self._thread = threading.Thread(target=self._follow, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, path: str, body: Any = None, token: str = "") -> Any:
        request = urllib.request.Request(
            self._address + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "X-CSRFToken": token},
        )
        with self._opener.open(request, timeout=30) as answer:
            return json.loads(answer.read())

    def _follow(self, stream: Any) -> None:
        with stream:
            for line in stream:
                if line.startswith(b"data: "):
                    self.seen.append(json.loads(line[len(b"data: ") :]))

    def finish(self) -> list[dict[str, Any]]:
        """Every state of the operation that was sent; the server ends the stream."""
        self._thread.join(30)
        assert not self._thread.is_alive(), "the stream goes on after the end"
        return self.seen
