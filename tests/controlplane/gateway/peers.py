"""What may answer at an address that somebody registers, on real sockets of 127.0.0.1."""

import contextlib
import http.server
import socket
import ssl
import threading


@contextlib.contextmanager
def serving(handle, *, host="127.0.0.1"):
    """Yields `host:port`; `handle(connection)` runs in a thread of each connection's own."""
    taken = []
    with socket.create_server((host, 0)) as server:

        def run(connection):
            with contextlib.suppress(OSError), connection:
                handle(connection)

        def accept():
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                taken.append(connection)
                threading.Thread(target=run, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield f"{host}:{server.getsockname()[1]}"
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
    for connection in taken:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)


def silent(connection):
    """Takes what is sent and says nothing."""
    while connection.recv(65536):
        pass


def saying(data):
    """Says `data` once something was asked, then nothing."""

    def handle(connection):
        connection.recv(65536)
        connection.sendall(data)
        silent(connection)

    return handle


def greeting(data):
    """Says `data` before anything was asked."""

    def handle(connection):
        connection.sendall(data)
        silent(connection)

    return handle


def hanging_up(connection):
    connection.recv(65536)


def over_tls(handle, certificate, *, client_authority=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if client_authority is not None:
        context.load_verify_locations(client_authority)
        context.verify_mode = ssl.CERT_REQUIRED

    def wrapped(connection):
        with context.wrap_socket(connection, server_side=True) as sealed:
            handle(sealed)

    return wrapped


def forwarding(address):
    """What is said here is said there, and back."""
    host, _, port = address.rpartition(":")

    def handle(connection):
        with socket.create_connection((host, int(port))) as there:
            back = threading.Thread(target=_pump, args=(there, connection), daemon=True)
            back.start()
            _pump(connection, there)
            back.join()

    return handle


def _pump(source, target):
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def http_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Quiet)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
