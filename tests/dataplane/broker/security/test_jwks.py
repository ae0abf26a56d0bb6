"""Keys of tokens from a real server: kept, read again, and never because somebody floods."""

import asyncio
import http.server
import json
import threading

import pytest
from joserfc import jws
from joserfc.jwk import RSAKey

from dataplane.broker.metrics import Metrics
from dataplane.broker.security.jwks import UNKNOWN_KEY_MS_MIN, Jwks, reader
from dataplane.config.sasl import TokenSettings
from dataplane.ports.fakes.clock import FakeClock
from dataplane.security.jwt_claims import ClaimRules
from dataplane.security.sasl_exchange import SaslRefusedError

RULES = ClaimRules()
HOUR_MS = 3_600_000


class Provider:
    """An identity provider on loopback. `answer` None: it is down."""

    def __init__(self) -> None:
        self.keys = {"first": RSAKey.generate_key(2048, {"kid": "first"})}
        self.asked = 0
        self.status = 200
        self.body: bytes | None = None
        self.location = ""
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked += 1
                body = provider.body
                if body is None:
                    keys = [key.as_dict(private=False) for key in provider.keys.values()]
                    body = json.dumps({"keys": keys}).encode()
                self.send_response(provider.status)
                if provider.location:
                    self.send_header("Location", provider.location)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_args: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/keys"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def token(self, clock, kid="first", key=None):
        now_s = clock.realtime_ms() // 1000
        claims = {"sub": "alice", "iat": now_s, "exp": now_s + 60}
        key = key or self.keys[kid]
        return jws.serialize_compact(
            {"alg": "RS256", "kid": kid}, json.dumps(claims).encode(), key, algorithms=["RS256"]
        )


@pytest.fixture
def provider():
    made = Provider()
    yield made
    made.stop()


@pytest.fixture
def clock():
    return FakeClock()


def jwks(url, clock, metrics=None):
    settings = TokenSettings(
        jwks_url=url,
        options={},
        audiences=frozenset(),
        issuer=None,
        scope_claim="scope",
        subject_claim="sub",
        clock_skew_ms=0,
        refresh_ms=HOUR_MS,
        retry_ms=100,
        retry_ms_max=10_000,
    )
    return Jwks(settings, clock, metrics or Metrics(), reader(url, None))


async def refused(keys, token):
    with pytest.raises(SaslRefusedError) as error:
        await keys.validate(token, RULES)
    return str(error.value)


async def test_keys_are_read_once_and_again_when_they_are_old(provider, clock):
    keys = jwks(provider.url, clock)
    for _ in range(3):
        assert (await keys.validate(provider.token(clock), RULES)).name == "alice"
    assert provider.asked == 1
    clock.advance(HOUR_MS)
    await keys.validate(provider.token(clock), RULES)
    assert provider.asked == 2


async def test_a_key_that_was_withdrawn_is_not_taken_any_more(provider, clock):
    keys = jwks(provider.url, clock)
    await keys.validate(provider.token(clock), RULES)
    withdrawn = provider.keys.pop("first")
    provider.keys["second"] = RSAKey.generate_key(2048, {"kid": "second"})
    clock.advance(HOUR_MS)
    assert "not known" in await refused(keys, provider.token(clock, "first", withdrawn))


async def test_a_new_key_is_found_by_its_first_token(provider, clock):
    keys = jwks(provider.url, clock)
    await keys.validate(provider.token(clock), RULES)
    provider.keys["second"] = RSAKey.generate_key(2048, {"kid": "second"})
    clock.advance(UNKNOWN_KEY_MS_MIN)
    assert (await keys.validate(provider.token(clock, "second"), RULES)).name == "alice"
    assert provider.asked == 2


async def test_a_flood_of_invented_key_ids_asks_the_provider_once(provider, clock):
    keys = jwks(provider.url, clock)
    await keys.validate(provider.token(clock), RULES)
    evil = RSAKey.generate_key(2048)
    clock.advance(UNKNOWN_KEY_MS_MIN)
    tokens = [provider.token(clock, f"invented-{number}", evil) for number in range(50)]
    words = await asyncio.gather(*(refused(keys, token) for token in tokens))
    assert set(words) == {"the token's key is not known"}
    assert provider.asked == 2
    assert (await keys.validate(provider.token(clock), RULES)).name == "alice"


async def test_what_needs_no_key_asks_for_none(provider, clock):
    keys = jwks(provider.url, clock)
    assert "malformed" in await refused(keys, "x")
    assert "algorithm" in await refused(keys, "eyJhbGciOiJub25lIn0.e30.")
    assert provider.asked == 0


@pytest.mark.parametrize(
    "broken",
    [
        {"status": 500},
        {"status": 302, "location": "http://127.0.0.1:1/"},
        {"body": b"<html>"},
        {"body": b'{"keys": []}'},
        {"body": b"[" * (1024 * 1024 + 1)},
    ],
)
async def test_known_keys_outlive_a_broken_provider(provider, clock, broken):
    metrics = Metrics()
    keys = jwks(provider.url, clock, metrics)
    await keys.validate(provider.token(clock), RULES)
    for name, value in broken.items():
        setattr(provider, name, value)
    clock.advance(HOUR_MS)
    for _ in range(5):  # the second comes within the pause after a failure
        assert (await keys.validate(provider.token(clock), RULES)).name == "alice"
    assert provider.asked == 2
    assert metrics.jwks_failures.value == 1


async def test_a_provider_that_is_down_is_asked_at_growing_intervals(clock):
    metrics = Metrics()
    keys = jwks("http://127.0.0.1:1/keys", clock, metrics)
    token = jws.serialize_compact(
        {"alg": "RS256"}, b"{}", RSAKey.generate_key(2048), algorithms=["RS256"]
    )
    for advance_ms, reads in ((0, 1), (99, 1), (1, 2), (199, 2), (1, 3), (10_000, 4)):
        clock.advance(advance_ms)
        assert "cannot be read" in await refused(keys, token)
        assert metrics.jwks_reads.value == reads
    assert metrics.jwks_failures.value == 4


async def test_a_file(tmp_path, provider, clock):
    file = tmp_path / "keys.json"
    file.write_text(json.dumps({"keys": [provider.keys["first"].as_dict(private=False)]}))
    keys = jwks(f"file://{file}", clock)
    assert (await keys.validate(provider.token(clock), RULES)).name == "alice"
    with pytest.raises(OSError, match="none"):
        reader(f"file://{tmp_path}/none", None)
