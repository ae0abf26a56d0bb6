"""Records in and out of a topic, by librdkafka: what the admin port does not do."""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from controlplane.gateway.connection_spec import OAUTHBEARER, ConnectionSpec
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.oauth import token_of

NOT_ACKNOWLEDGED = "not-acknowledged"
NOT_READ = "not-read"
LOOKUP_TIMEOUT_S = 10.0
POLL_S = 0.5
# `oauth` keeps tokens by their own lifetime; librdkafka looks this often for a newer one.
TOKEN_ASKED_AGAIN_S = 60.0


class RecordProducer:
    """One producer, kept open: to connect and authenticate each time would cost more."""

    def __init__(self, spec: ConnectionSpec, *, client_id: str, delivery_timeout_s: float) -> None:
        self._timeout_s = delivery_timeout_s
        self._producer = Producer(
            producer_settings(spec, client_id=client_id, delivery_timeout_s=delivery_timeout_s)
        )
        self._lock = threading.Lock()

    def send(self, topic: str, records: Sequence[tuple[bytes, bytes]]) -> None:
        """Hand over (key, value) pairs and wait for every acknowledgement.

        Raises:
            GatewayError: `not-acknowledged`; some record was refused or its answer is late.
        """
        refusals: list[str] = []

        def delivered(error: Any, _message: Any) -> None:
            if error is not None:
                refusals.append(str(error))

        with self._lock:
            try:
                for key, value in records:
                    self._producer.produce(topic, key=key, value=value, on_delivery=delivered)
                left = self._producer.flush(self._timeout_s + 1)
            except (KafkaException, BufferError) as error:
                raise GatewayError(NOT_ACKNOWLEDGED, str(error)) from error
        if left or refusals:
            reason = refusals[0] if refusals else "no acknowledgement in time"
            count = left + len(refusals)
            raise GatewayError(NOT_ACKNOWLEDGED, f"{count} of {len(records)} records: {reason}")

    def close(self) -> None:
        with self._lock:
            self._producer.purge()
            self._producer.flush(0)


def values_since(
    spec: ConnectionSpec, topic: str, *, partitions: int, from_ms: int, timeout_s: float
) -> Iterator[bytes]:
    """Values of the records appended from `from_ms` (by their timestamp) until now, in no order.

    Raises:
        GatewayError: `not-read`; the brokers refused, or did not deliver within `timeout_s`.
    """
    consumer = Consumer(
        {
            **security_settings(spec),
            "group.id": "penstock-reader",
            "enable.auto.commit": False,
            "enable.partition.eof": False,
        }
    )
    wanted = [TopicPartition(topic, number, from_ms) for number in range(partitions)]
    try:
        yield from _read(consumer, wanted, time.monotonic() + timeout_s)
    except KafkaException as error:
        raise GatewayError(NOT_READ, str(error)) from error
    finally:
        consumer.close()


def _read(consumer: Consumer, wanted: list[TopicPartition], until_s: float) -> Iterator[bytes]:
    starts = consumer.offsets_for_times(wanted, timeout=LOOKUP_TIMEOUT_S)
    left: dict[int, int] = {}
    for start in starts:
        _, end = consumer.get_watermark_offsets(start, timeout=LOOKUP_TIMEOUT_S)
        if 0 <= start.offset < end:
            left[start.partition] = end
    consumer.assign([start for start in starts if start.partition in left])
    while left:
        if time.monotonic() > until_s:
            raise GatewayError(NOT_READ, f"{wanted[0].topic} was not read in time")
        message = consumer.poll(POLL_S)
        if message is None:
            continue
        if message.error():
            raise GatewayError(NOT_READ, str(message.error()))
        yield message.value() or b""
        partition, offset = message.partition() or 0, message.offset() or 0
        if offset + 1 >= left.get(partition, 0):
            left.pop(partition, None)


def producer_settings(
    spec: ConnectionSpec, *, client_id: str, delivery_timeout_s: float
) -> dict[str, Any]:
    """Every record once, acknowledged by all in-sync replicas."""
    return {
        **security_settings(spec),
        "client.id": client_id,
        "acks": "all",
        "enable.idempotence": True,
        "linger.ms": 5,
        "compression.type": "lz4",
        "message.timeout.ms": int(delivery_timeout_s * 1000),
        "socket.timeout.ms": int(delivery_timeout_s * 1000),
        "queue.buffering.max.kbytes": 65536,
    }


def security_settings(spec: ConnectionSpec) -> dict[str, Any]:
    """Librdkafka's names for the way in."""
    found: dict[str, Any] = {
        "bootstrap.servers": ",".join(spec.bootstrap_servers),
        "security.protocol": spec.security_protocol,
        # What goes wrong comes back to the caller; librdkafka need not write to stderr as well.
        "log_level": 2,
    }
    if spec.uses_tls:
        found["ssl.endpoint.identification.algorithm"] = "https"
        given = {
            "ssl.ca.pem": spec.ca_pem,
            "ssl.certificate.pem": spec.client_certificate_pem,
            "ssl.key.pem": spec.client_key_pem,
        }
        found |= {key: pem for key, pem in given.items() if pem}
    if not spec.uses_sasl:
        return found
    found["sasl.mechanism"] = spec.sasl_mechanism
    if spec.sasl_mechanism == OAUTHBEARER:
        found["oauth_cb"] = lambda _: (token_of(spec), time.time() + TOKEN_ASKED_AGAIN_S)
    else:
        found["sasl.username"] = spec.username or ""
        found["sasl.password"] = spec.password or ""
    return found
