"""Receivers of notifications on real sockets of 127.0.0.1: HTTP(S) and SMTP."""

import contextlib
import http.server
import socket
import socketserver
import ssl
import threading
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict
    body: bytes
    at_s: float


@contextlib.contextmanager
def http_receiver(answers=(204,), *, certificate=None, meanwhile=None):
    """Yields (url, requests).

    Each of `answers` is a status, (status, headers) or (status, headers, body); the last one stays.
    `meanwhile(request)` runs before the answer, in the thread of the request.
    """
    requests, lock = [], threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            with lock:
                found = Request(self.path, dict(self.headers), body, time.monotonic())
                requests.append(found)
                given = answers[min(len(requests), len(answers)) - 1]
            if meanwhile is not None:
                meanwhile(found)
            status, headers, content = (
                *(given if isinstance(given, tuple) else (given,)),
                {},
                b"",
            )[:3]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_):
            pass  # who sends may be gone by then

    server = Server(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    scheme = "http" if certificate is None else "https"
    try:
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}/hook", requests
    finally:
        server.shutdown()
        server.server_close()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@contextlib.contextmanager
def smtp_receiver(answers=None, *, certificate=None):
    """Yields (port, messages): a mail server as RFC 5321 has it, with STARTTLS given a certificate.

    `answers` are replies by command (`RCPT`, `DATA`, …) that differ from the good ones. A message
    is (recipients, bytes).
    """
    messages, given = [], answers or {}

    class Session(socketserver.StreamRequestHandler):
        def say(self, text):
            self.wfile.write(text.encode() + b"\r\n")

        def handle(self):
            with contextlib.suppress(OSError):
                self.talk()

        def talk(self):
            to = []
            self.say("220 test")
            while command := self.rfile.readline():
                word = command.decode().strip().partition(" ")[0].upper()
                if word in given:
                    self.say(given[word])
                elif word == "EHLO":
                    self.say("250-test")
                    self.say("250 STARTTLS" if certificate else "250 8BITMIME")
                elif word == "STARTTLS":
                    self.say("220 go on")
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                    context.load_cert_chain(certificate)
                    self.connection = context.wrap_socket(self.connection, server_side=True)
                    self.setup_files()
                elif word == "RCPT":
                    to.append(command.decode().strip()[len("RCPT TO:<") : -1])
                    self.say("250 ok")
                elif word == "DATA":
                    self.say("354 go on")
                    lines = iter(self.rfile.readline, b".\r\n")
                    messages.append((tuple(to), b"".join(lines)))
                    self.say("250 ok")
                elif word == "QUIT":
                    self.say("221 bye")
                    return
                else:
                    self.say("250 ok")

        def setup_files(self):
            self.rfile = self.connection.makefile("rb", -1)
            self.wfile = self.connection.makefile("wb", 0)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, *_):
            pass

    server = Server(("127.0.0.1", 0), Session)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_address[1], messages
    finally:
        server.shutdown()
        server.server_close()
