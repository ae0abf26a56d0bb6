"""What `http.client` needs of a socket, each wait of which ends at a deadline."""

import io
import socket
from typing import Any

from controlplane.gateway.egress import Deadline


class TimedSocket:
    """Whoever opened the connection closes it: `http.client` would once it has an answer's head."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._connected = connected
        self._deadlines = [deadline]

    def end_within(self, timeout_s: float) -> None:
        """From here on the waits end by then as well; the deadline before stays."""
        self._deadlines.append(Deadline(timeout_s))

    def left_s(self) -> float:
        """Raises TimeoutError."""
        if any(deadline.is_over for deadline in self._deadlines):
            raise TimeoutError
        return min(deadline.left_s() for deadline in self._deadlines)

    def sendall(self, data: bytes) -> None:
        self._connected.settimeout(self.left_s())
        self._connected.sendall(data)

    def makefile(self, *_: Any) -> io.BufferedReader:
        return io.BufferedReader(_Reading(self, self._connected))

    def close(self) -> None:
        """See above."""


class _Reading(io.RawIOBase):
    def __init__(self, timed: TimedSocket, connected: socket.socket) -> None:
        self._timed, self._connected = timed, connected

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connected.settimeout(self._timed.left_s())
        return self._connected.recv_into(buffer)
