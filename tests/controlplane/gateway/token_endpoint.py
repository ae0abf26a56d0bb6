"""A token endpoint over TLS, as an identity provider has it, which remembers what it was asked."""

import contextlib
import http.server
import json
import ssl
import threading


@contextlib.contextmanager
def token_endpoint(certificate, answers, *, host="127.0.0.1"):
    """Yields (url, requests).

    `answers` are (status, body as bytes or JSON), the last one stays, or a function that gives one
    for (headers, body) of a request.
    """
    requests = []
    if not callable(answers):
        given = answers

        def answers(*_):
            return given[min(len(requests), len(given)) - 1]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            length = int(self.headers["Content-Length"])
            requests.append((self.path, dict(self.headers), self.rfile.read(length).decode()))
            status, body = answers(*requests[-1][1:])
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            if 300 <= status < 400:
                self.send_header("Location", "https://127.0.0.1:1/elsewhere")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer((host, 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"https://{host}:{server.server_address[1]}/oauth/token?realm=a", requests
    finally:
        server.shutdown()
        server.server_close()
