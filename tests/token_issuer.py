"""An identity provider for tests: signs JSON web tokens, and serves the key to check them on loopback."""

from __future__ import annotations

import http.server
import json
import threading
import time
from typing import Any

from joserfc import jws
from joserfc.jwk import RSAKey

ISSUER, AUDIENCE = "https://issuer", "kafka"


class Issuer:
    """`url` is of its key set (JWKS)."""

    def __init__(self) -> None:
        self._key = RSAKey.generate_key(2048, {"kid": "one"})
        document = json.dumps({"keys": [self._key.as_dict(private=False)]}).encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(document)))
                self.end_headers()
                self.wfile.write(document)

            def log_message(self, *_args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def token(self, lifetime_s: float = 300, **changes: Any) -> str:
        """Of `admin`, unless `changes` to the claims say otherwise."""
        now_s = time.time()
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "admin", "iat": now_s}
        payload = json.dumps(claims | {"exp": now_s + lifetime_s} | changes).encode()
        return jws.serialize_compact(
            {"alg": "RS256", "kid": "one"}, payload, self._key, algorithms=["RS256"]
        )

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
