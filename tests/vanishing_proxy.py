"""A TCP proxy whose server vanishes as a machine does that loses its power: nobody hangs up.

Connections of before are never answered again, also once the server is back; only new ones are.
"""

import contextlib
import socket
import threading
from typing import Self

HOST = "127.0.0.1"
ACCEPT_S = 0.05
CHUNK_BYTES = 65_536


class VanishingProxy(contextlib.ExitStack):
    """`with VanishingProxy(port) as proxy`: clients connect to `proxy.port`."""

    def __init__(self, target_port: int) -> None:
        super().__init__()
        self._target_port = target_port
        self._is_there, self._is_closed = threading.Event(), threading.Event()
        self._is_there.set()
        self._life = 0
        self._listener = self.enter_context(socket.create_server((HOST, 0), backlog=256))
        self._listener.settimeout(ACCEPT_S)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        thread = threading.Thread(target=self._serve, daemon=True)
        thread.start()
        self.callback(thread.join)
        self.callback(self._is_closed.set)
        return self

    def vanish(self) -> None:
        self._is_there.clear()
        self._life += 1

    def come_back(self) -> None:
        self._is_there.set()

    def _serve(self) -> None:
        while not self._is_closed.is_set():
            if not self._is_there.wait(ACCEPT_S):
                continue
            with contextlib.suppress(TimeoutError):
                self._relay(self._listener.accept()[0])

    def _relay(self, inside: socket.socket) -> None:
        inside.settimeout(None)
        outside = socket.create_connection((HOST, self._target_port))
        for source, sink in ((inside, outside), (outside, inside)):
            threading.Thread(
                target=self._pump, args=(source, sink, self._life), daemon=True
            ).start()

    def _pump(self, source: socket.socket, sink: socket.socket, life: int) -> None:
        with contextlib.suppress(OSError):
            while chunk := source.recv(CHUNK_BYTES):
                if self._life != life:
                    self._is_closed.wait()  # both sockets stay open, and nobody reads them
                    return
                sink.sendall(chunk)
            sink.shutdown(socket.SHUT_RDWR)
