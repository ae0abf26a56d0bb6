"""TLS of the Kafka library with a limit: kafka-python 3.0 waits for the other hello for ever.

A broker that stands still is connected to by its machine's kernel and then says nothing. Without a
limit the thread that waits for it is lost, and with it whoever waits for that thread.
"""

import ssl
import time

from kafka.net import manager
from kafka.net.transport import KafkaSSLTransport

HANDSHAKE_S = 5.0


class BoundedTransport(KafkaSSLTransport):  # type: ignore[misc] # the library has no types
    """The library's, whose handshake fails after `HANDSHAKE_S`."""

    async def handshake(self) -> None:
        """Raises kafka.errors.KafkaTimeoutError: the other side has not done its part in time."""
        timeout_at = time.monotonic() + HANDSHAKE_S
        while True:
            try:
                self._sock.do_handshake()
            except ssl.SSLWantReadError:
                await self._net.wait_read(self._sock, timeout_at=timeout_at)
            except ssl.SSLWantWriteError:
                await self._net.wait_write(self._sock, timeout_at=timeout_at)
            else:
                return


def bound_handshakes() -> None:
    """From here on, in this process; once more changes nothing."""
    manager.KafkaSSLTransport = BoundedTransport
