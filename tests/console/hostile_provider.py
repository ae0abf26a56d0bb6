"""An OpenID provider on loopback that does what the test says: tokens and keys of every kind.

It is strict where an honest one is: a code is good once, for its redirect address, and with the
PKCE verifier of its challenge.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

CLIENT, SECRET = "penstock", "a shared secret of the client and its provider"


@dataclass
class Provider:
    """`claims` and `sign` make the next ID token; `document` is laid over the discovery document."""

    url: str = ""
    claims: dict = field(default_factory=dict)
    document: dict = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: new_key("first"))
    published: list = field(default_factory=list)
    codes: dict = field(default_factory=dict)
    refusals: list = field(default_factory=list)
    algorithm: str = "RS256"
    asked: list = field(default_factory=list)

    def authorize(self, url):
        """A browser with a session there: where it is sent back to."""
        asked = {name: rows[0] for name, rows in parse_qs(urlsplit(url).query).items()}
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, form):
        asked = self.codes.pop(form.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(
            hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        ).rstrip(b"=")
        if (
            asked is None
            or asked["redirect_uri"] != form.get("redirect_uri")
            or asked["code_challenge"].encode() != challenge
        ):
            self.refusals.append(form)
            return 400, {"error": "invalid_grant"}
        return 200, {
            "access_token": "a", "token_type": "Bearer", "id_token": self.id_token(asked["nonce"]),
        }  # fmt: skip

    def id_token(self, nonce):
        now = int(time.time())
        claims = {
            "iss": self.url, "aud": CLIENT, "sub": "s-1", "iat": now, "exp": now + 60,
            "nonce": nonce, "preferred_username": "ada", "groups": ["kafka"],
        }  # fmt: skip
        claims.update(self.claims)
        claims = {name: value for name, value in claims.items() if value is not None}
        if self.algorithm == "none":
            head, body = ({"alg": "none"}, claims)
            parts = [
                base64.urlsafe_b64encode(json.dumps(row).encode()).rstrip(b"=")
                for row in (head, body)
            ]
            return b".".join([*parts, b""]).decode()
        if self.algorithm == "HS256":
            return jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET))
        return jwt.encode({"alg": "RS256", "kid": self.key.kid}, claims, self.key)

    def answer(self, path, form):
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.url,
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "jwks_uri": f"{self.url}/keys",
                "end_session_endpoint": f"{self.url}/logout",
                "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
                **self.document,
            }
        if path == "/keys":
            return 200, {"keys": self.published or [self.key.as_dict(private=False)]}
        return self.token(form)


def new_key(kid):
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig"})


def serve():
    """A provider and its server, which listens on a free port of loopback."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.reply({})

        def do_POST(self):
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.reply({name: rows[0] for name, rows in parse_qs(text).items()})

        def reply(self, form):
            status, body = provider.answer(urlsplit(self.path).path, form)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
    ).start()
    return provider, server
