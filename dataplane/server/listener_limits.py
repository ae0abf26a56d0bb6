"""Bounds of one listener."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ListenerLimits:
    """Bounds of one listener; Kafka's keys are in the names of `compose`'s reading of them."""

    frame_bytes_max: int = 100 * 1024 * 1024
    idle_ms_max: int = 600_000
    handshakes_max: int = 1024
    """TLS handshakes under way; they are no connections yet."""
    backlog: int = 1024
    send_buffer_bytes: int = -1
    """SO_SNDBUF of accepted connections; -1 leaves it to the system."""
    receive_buffer_bytes: int = -1
    """SO_RCVBUF of the listening socket, for accepted ones to inherit; -1 leaves it as it is."""
