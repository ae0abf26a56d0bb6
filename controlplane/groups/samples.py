"""What lies where a reset would take a group: one record of one partition, cut to what is shown."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from controlplane.clusters.connections import connection_spec, passage_for
from controlplane.clusters.models import Cluster
from controlplane.common.problems import Unavailable
from controlplane.common.times import iso
from controlplane.gateway.errors import GatewayError
from controlplane.gateway.types import TP

if TYPE_CHECKING:
    from controlplane.gateway.record_sample import Sampled

SAMPLE_S = 5.0
TEXT_MAX_BYTES = 2_048
HEX_MAX_BYTES = 256
HEADERS_MAX = 20


def sample(cluster: Cluster, tp: TP, offset: int) -> dict[str, Any]:
    """The record at the offset, or the first one after it, of a partition that is there.

    Raises:
        Problem: it could not be read.
    """
    # A record that cannot be unpacked says nothing of the cluster: its breaker stays closed.
    found = passage_for(cluster).run(
        lambda: _record(cluster, tp, offset), what="read a record", is_particular=True
    )
    return {
        "topic": tp.topic,
        "partition": tp.partition,
        "offset": offset,
        "record": None
        if found is None
        else {
            "offset": found.offset,
            "timestamp": _moment(found.timestamp_ms),
            "key": shown_bytes(found.key),
            "value": shown_bytes(found.value),
            "headers": [
                {"name": name, "value": shown_bytes(value)}
                for name, value in found.headers[:HEADERS_MAX]
            ],
            "headers_left_out": max(0, len(found.headers) - HEADERS_MAX),
        },
    }


def _record(cluster: Cluster, tp: TP, offset: int) -> "Sampled | None":
    # The Kafka library is large; what never reads a record does not wait for it.
    from controlplane.gateway import record_sample
    from controlplane.gateway.records import NOT_READ

    spec = connection_spec(cluster)
    try:
        return record_sample.record_from(spec, tp.topic, tp.partition, offset, timeout_s=SAMPLE_S)
    except GatewayError as error:
        if error.code != NOT_READ:
            raise
        raise Unavailable(f"The record could not be read: {error.detail or error}") from error


def shown_bytes(value: bytes | None) -> dict[str, Any] | None:
    """As text where it is UTF-8, else in hexadecimal digits; None stays None."""
    if value is None:
        return None
    text = _text(value)
    if text is not None:
        return _shown(value, text=text, cut_at=TEXT_MAX_BYTES)
    return _shown(value, hexadecimal=value[:HEX_MAX_BYTES].hex(), cut_at=HEX_MAX_BYTES)


def _shown(
    value: bytes, *, cut_at: int, text: str | None = None, hexadecimal: str | None = None
) -> dict[str, Any]:
    return {
        "text": text,
        "hex": hexadecimal,
        "size_bytes": len(value),
        "is_cut": len(value) > cut_at,
    }


def _text(value: bytes) -> str | None:
    """The beginning of it; the cut may go through a character, which is left out then."""
    try:
        return value[:TEXT_MAX_BYTES].decode()
    except UnicodeDecodeError as error:
        is_cut_through = len(value) > TEXT_MAX_BYTES and error.start > TEXT_MAX_BYTES - 4
        return value[: error.start].decode() if is_cut_through else None


def _moment(at_ms: int | None) -> str | None:
    """Null for a time that no date has: who writes a record chooses it."""
    try:
        return None if at_ms is None else iso(datetime.fromtimestamp(at_ms / 1000, UTC))
    except (ValueError, OverflowError, OSError):
        return None
