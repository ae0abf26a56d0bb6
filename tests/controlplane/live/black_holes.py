"""Addresses on loopback that take a client's time: some accept and never answer, some never accept."""

import contextlib
import socket
import time

HOST = "127.0.0.1"
NO_CONNECTION_S = 0.2
FILLERS_MAX = 16


class BlackHoles(contextlib.ExitStack):
    """Half of `count` accept (the kernel does) and never read; the others' queues are full."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.addresses = [
            self._accepts() if number % 2 else self._never_accepts() for number in range(count)
        ]

    def _listening(self, backlog: int) -> socket.socket:
        made = self.enter_context(socket.socket())
        made.bind((HOST, 0))
        made.listen(backlog)
        return made

    def _accepts(self) -> str:
        return address_of(self._listening(1024))

    def _never_accepts(self) -> str:
        """A connection to it stays in the handshake: those that filled its queue are never taken."""
        full = self._listening(0)
        for _ in range(FILLERS_MAX):
            filler = self.enter_context(socket.socket())
            filler.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                filler.connect(full.getsockname())
            if not connects(full):
                return address_of(full)
        raise AssertionError("the queue of a listening socket does not fill")


def address_of(made: socket.socket) -> str:
    return f"{HOST}:{made.getsockname()[1]}"


def connects(made: socket.socket) -> bool:
    began_s = time.monotonic()
    try:
        with socket.create_connection(made.getsockname(), timeout=NO_CONNECTION_S):
            return True
    except TimeoutError:
        assert time.monotonic() - began_s >= NO_CONNECTION_S / 2
        return False
