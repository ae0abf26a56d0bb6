"""A stock Apache Kafka of one broker that takes OAUTHBEARER, and the issuer of its tokens.

The broker checks them as Kafka has it (signature by the issuer's keys, audience, issuer, expiry);
the issuer gives signed JWTs for client credentials, over TLS.
"""

import base64
import contextlib
import json
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.jwk import RSAKey

from tests.controlplane.gateway.token_endpoint import token_endpoint
from tests.controlplane.live.stock_kafka import ADMIN, LOGIN_MODULES, StockKafka

AUDIENCE, ISSUER = "kafka", "https://issuer.example"
CLIENT, SECRET = "penstock service", "a secret: of & the client/"


class TokenIssuer:
    """Answers a token endpoint; what a test changes counts for the next token.

    `issued` has (scope, expiry in seconds since the epoch) of every token.
    """

    def __init__(self, lifetime_s: int) -> None:
        self.secrets = {CLIENT: SECRET}
        self.lifetime_s = lifetime_s
        self.audience = AUDIENCE
        self.issued: list[tuple[str, int]] = []
        self._key = RSAKey.generate_key(2048, {"kid": "first", "use": "sig", "alg": "RS256"})

    def jwks(self) -> str:
        return json.dumps({"keys": [self._key.as_dict(private=False)]})

    def answer(self, headers: dict[str, str], body: str) -> tuple[int, dict[str, Any]]:
        """As RFC 6749 has it, its refusals too."""
        form = dict(urllib.parse.parse_qsl(body))
        if form.get("grant_type") != "client_credentials":
            return 400, {"error": "unsupported_grant_type"}
        scheme, _, encoded = headers.get("Authorization", "").partition(" ")
        client, _, secret = (
            urllib.parse.unquote_plus(part)
            for part in base64.b64decode(encoded).decode().partition(":")
        )
        if scheme != "Basic" or self.secrets.get(client) != secret:
            return 401, {"error": "invalid_client"}
        now_s = int(time.time())
        claims = {
            "iss": ISSUER,
            "aud": self.audience,
            "sub": client,
            "iat": now_s,
            "exp": now_s + self.lifetime_s,
            # A broker refuses a token whose scope is empty; without one it asks for none.
            **({"scope": form["scope"]} if "scope" in form else {}),
        }
        self.issued.append((form.get("scope", ""), claims["exp"]))
        token = jwt.encode({"alg": "RS256", "kid": self._key.kid}, claims, self._key)
        return 200, {"access_token": token, "token_type": "Bearer", "expires_in": self.lifetime_s}


class TokenKafka(StockKafka):
    """`token_url` is where its clients get their tokens."""

    def __init__(self, directory: Path, lifetime_s: int) -> None:
        keys = directory.parent / "keys.json"
        prefix = "listener.name.sasl_ssl.oauthbearer."
        bearer = f"{LOGIN_MODULES}.oauthbearer"
        super().__init__(
            directory,
            brokers=(1,),
            settings={
                "sasl.enabled.mechanisms": "PLAIN,OAUTHBEARER",
                f"{prefix}sasl.jaas.config": f"{bearer}.OAuthBearerLoginModule required;",
                f"{prefix}sasl.server.callback.handler.class": (
                    f"{bearer}.OAuthBearerValidatorCallbackHandler"
                ),
                "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
                "sasl.oauthbearer.expected.audience": AUDIENCE,
                "sasl.oauthbearer.expected.issuer": ISSUER,
                "super.users": f"User:{ADMIN};User:{CLIENT}",
                "offsets.topic.replication.factor": "1",
                "transaction.state.log.replication.factor": "1",
                "transaction.state.log.min.isr": "1",
            },
        )
        self.issuer = TokenIssuer(lifetime_s)
        keys.write_text(self.issuer.jwks())
        self.token_url = ""

    def token_registration(self, name: str, **changes: str) -> dict[str, str]:
        """The inputs of `cluster.register` by OAUTHBEARER."""
        found = {
            "name": name,
            "bootstrap_servers": self.bootstrap,
            "security_protocol": "SASL_SSL",
            "sasl_mechanism": "OAUTHBEARER",
            "oauth_token_url": self.token_url,
            "oauth_client_id": CLIENT,
            "oauth_client_secret": SECRET,
            "ca_pem": self.ca_file.read_text(),
        }
        return {**found, **changes}


@contextlib.contextmanager
def token_kafka(directory: Path, *, lifetime_s: int = 300) -> Iterator[TokenKafka]:
    """Started, with its issuer, whose tokens last so long; both stopped afterwards."""
    made = TokenKafka(directory / "kafka", lifetime_s)
    certificate = made.authority.issue("issuer")
    with token_endpoint(certificate, made.issuer.answer) as (url, _):
        made.token_url = url
        try:
            made.start()
            yield made
        finally:
            made.stop()
