"""Addresses that lead to a Kafka until they turn: then they take a client's time and answer nothing.

So their registration is planned like any other. Half of them accept (the kernel does) and never
answer, the others never accept: their queue of connections is full.
"""

import contextlib
import socket
import threading
import time

HOST = "127.0.0.1"
NO_CONNECTION_S = 0.2
FILLERS_MAX = 16
ACCEPT_S = 0.1
CHUNK_BYTES = 65_536


class BlackHoles(contextlib.ExitStack):
    """`count` of them in front of the Kafka at `target`, `host:port`."""

    def __init__(self, count: int, target: str) -> None:
        super().__init__()
        self._holes = [
            self.enter_context(_Hole(target, accepts=bool(number % 2))) for number in range(count)
        ]
        self.addresses = [hole.address for hole in self._holes]

    def turn(self) -> None:
        """From here on nobody answers; connections of before are closed."""
        for hole in self._holes:
            hole.turn()


class _Hole(contextlib.ExitStack):
    def __init__(self, target: str, *, accepts: bool) -> None:
        super().__init__()
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._accepts = accepts
        self._has_turned = threading.Event()
        self._relayed: list[socket.socket] = []
        self._listener = self.enter_context(socket.socket())
        self._listener.bind((HOST, 0))
        self._listener.listen(1024)
        self._listener.settimeout(ACCEPT_S)
        self.address = f"{HOST}:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        self.callback(self.turn)

    def turn(self) -> None:
        if self._has_turned.is_set():
            return
        self._has_turned.set()
        self._thread.join()
        for each in self._relayed:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        if not self._accepts:
            self._fill()

    def _serve(self) -> None:
        while not self._has_turned.is_set():
            with contextlib.suppress(TimeoutError):
                inside, _ = self._listener.accept()
                self._relay(inside)

    def _relay(self, inside: socket.socket) -> None:
        try:
            outside = socket.create_connection(self._target)
        except OSError:
            inside.close()
            return
        self._relayed += [self.enter_context(inside), self.enter_context(outside)]
        for source, sink in ((inside, outside), (outside, inside)):
            threading.Thread(target=_pump, args=(source, sink), daemon=True).start()

    def _fill(self) -> None:
        """Connections that nobody takes, until another one stays in the handshake."""
        self._listener.listen(0)
        for _ in range(FILLERS_MAX):
            filler = self.enter_context(socket.socket())
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect(self._listener.getsockname())
            if not self._connects():
                return
        raise AssertionError("the queue of a listening socket does not fill")

    def _connects(self) -> bool:
        began_s = time.monotonic()
        try:
            with socket.create_connection(self._listener.getsockname(), timeout=NO_CONNECTION_S):
                return True
        except TimeoutError:
            assert time.monotonic() - began_s >= NO_CONNECTION_S / 2
            return False


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        source.settimeout(None)
        while chunk := source.recv(CHUNK_BYTES):
            sink.sendall(chunk)
        sink.shutdown(socket.SHUT_WR)
