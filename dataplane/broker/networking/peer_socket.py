"""A socket to a peer whose receive buffer has a size of the operator's choice."""

from __future__ import annotations

import asyncio
import socket


async def connect(host: str, port: int, receive_buffer_bytes: int) -> socket.socket:
    """Connect to the first address of `host` that answers. OSError of the last when none does.

    The size is set before connecting: the window's scale is agreed on while a connection opens.
    """
    loop = asyncio.get_running_loop()
    failure = OSError(f"{host} has no address")
    for family, kind, protocol, _name, address in await loop.getaddrinfo(
        host, port, type=socket.SOCK_STREAM
    ):
        opened = socket.socket(family, kind, protocol)
        try:
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
            opened.setblocking(False)
            await loop.sock_connect(opened, address)
        except OSError as error:
            opened.close()
            failure = error
        except BaseException:
            opened.close()
            raise
        else:
            return opened
    raise failure
