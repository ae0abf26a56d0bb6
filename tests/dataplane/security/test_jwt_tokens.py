"""Tokens as an attacker would write them, and those that have to be taken."""

import base64
import hashlib
import hmac
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc import jws
from joserfc.jwk import ECKey, OctKey, RSAKey

from dataplane.security import jwt_tokens
from dataplane.security.jwt_claims import ClaimRules
from dataplane.security.jwt_tokens import matching, read_header, read_keys, verified
from dataplane.security.sasl_exchange import Identity, SaslRefusedError
from dataplane.security.unsecured_tokens import identity_of_unsecured, rules_from

NOW_S = 1_800_000_000
RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
OTHER_RSA = RSAKey.generate_key(2048, {"kid": "rsa"})
EC = {curve: ECKey.generate_key(curve, {"kid": curve}) for curve in ("P-256", "P-384", "P-521")}
RULES = ClaimRules(audiences=frozenset({"kafka", "other"}), issuer="https://issuer")
CLAIMS = {
    "sub": "alice",
    "iss": "https://issuer",
    "aud": "kafka",
    "exp": NOW_S + 60,
    "iat": NOW_S - 100,
}


def key_set(*keys):
    return json.dumps({"keys": [key.as_dict(private=False) for key in keys]}).encode()


def part(data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(claims=None, key=RSA, algorithm="RS256", **header):
    payload = claims if isinstance(claims, bytes) else json.dumps(CLAIMS | (claims or {})).encode()
    found = {"alg": algorithm, "kid": key.kid} | header
    return jws.serialize_compact(
        {name: value for name, value in found.items() if value is not None},
        payload,
        key,
        algorithms=[algorithm],
    )


def check(token, keys=None, rules=RULES):
    known = read_keys(keys if keys is not None else key_set(RSA, *EC.values()))
    return verified(token, matching(known, read_header(token)), rules, NOW_S * 1000)


@pytest.mark.parametrize("algorithm", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"])
def test_rsa(algorithm):
    assert check(signed(algorithm=algorithm)) == Identity("alice", (NOW_S + 60) * 1000)


@pytest.mark.parametrize(("algorithm", "curve"), jwt_tokens.CURVES.items())
def test_elliptic_curves(algorithm, curve):
    assert check(signed(key=EC[curve], algorithm=algorithm)).name == "alice"


def test_a_token_without_a_key_id_is_held_against_all_keys():
    assert check(signed(kid=None), key_set(OTHER_RSA, RSA)).name == "alice"


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", None, 1, ["RS256"]])
def test_no_algorithm(algorithm):
    for signature in ("", part(b"x")):
        token = f"{part({'alg': algorithm, 'kid': 'rsa'})}.{part(CLAIMS)}.{signature}"
        with pytest.raises(SaslRefusedError):
            check(token)


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_the_public_key_is_no_secret(algorithm):
    """The classic: an HMAC over the token with what everybody can read."""
    for secret in (
        RSA.as_pem(private=False),
        json.dumps(RSA.as_dict(private=False)).encode(),
        base64.urlsafe_b64decode(RSA.as_dict(private=False)["n"] + "=="),
    ):
        text = f"{part({'alg': algorithm, 'kid': 'rsa'})}.{part(CLAIMS)}"
        mac = hmac.digest(secret, text.encode(), f"sha{algorithm[2:]}")
        with pytest.raises(SaslRefusedError, match="algorithm"):
            check(f"{text}.{part(mac)}")


def test_a_symmetric_key_in_the_set_signs_nothing():
    secret = OctKey.generate_key(256, {"kid": "oct"})
    with pytest.raises(ValueError, match="no key"):
        read_keys(json.dumps({"keys": [secret.as_dict(private=True)]}).encode())
    token = signed(key=secret, algorithm="HS256")
    with pytest.raises(SaslRefusedError, match="algorithm"):
        check(token)


def test_another_key_of_the_same_name():
    with pytest.raises(SaslRefusedError, match="signature"):
        check(signed(key=OTHER_RSA))


def test_a_key_in_the_header_is_not_believed():
    own = OTHER_RSA.as_dict(private=False)
    for header in ({"jwk": own}, {"jku": "https://evil/keys"}, {"x5u": "https://evil/cert"}):
        text = part({"alg": "RS256", "kid": "rsa"} | header)
        token = signed(key=OTHER_RSA)
        _, payload, signature = token.split(".")
        with pytest.raises(SaslRefusedError):
            check(f"{text}.{payload}.{signature}")


def test_a_changed_token():
    header, _payload, signature = signed().split(".")
    with pytest.raises(SaslRefusedError, match="signature"):
        check(f"{header}.{part(CLAIMS | {'sub': 'admin'})}.{signature}")
    for signature in ("", "AAAA", part(b"\0" * 256)):
        with pytest.raises(SaslRefusedError):
            check(f"{header}.{part(CLAIMS)}.{signature}")


def test_an_algorithm_of_another_kind_of_key():
    token = signed(key=EC["P-256"], algorithm="ES256", kid="rsa")
    assert matching(read_keys(key_set(RSA)), read_header(token)) == []
    with pytest.raises(SaslRefusedError):
        check(token)


@pytest.mark.parametrize(
    ("claims", "words"),
    [
        ({"exp": NOW_S - 31}, "expired"),
        ({"exp": None}, "no expiry"),
        ({"exp": "soon"}, "malformed"),
        ({"exp": True}, "malformed"),
        ({"exp": 10**30}, "malformed"),
        ({"exp": -1}, "malformed"),
        ({"nbf": NOW_S + 31}, "not valid yet"),
        ({"nbf": "x"}, "malformed"),
        ({"iat": None}, "time of issue"),
        ({"iat": NOW_S + 100, "exp": NOW_S + 60}, "before it is issued"),
        ({"iss": "https://evil"}, "issuer"),
        ({"iss": None}, "issuer"),
        ({"iss": ["https://issuer"]}, "issuer"),
        ({"aud": "web"}, "audience"),
        ({"aud": None}, "audience"),
        ({"aud": []}, "audience"),
        ({"aud": ["web", "api"]}, "audience"),
        ({"aud": {"kafka": 1}}, "malformed"),
        ({"sub": None}, "subject"),
        ({"sub": " "}, "subject"),
        ({"sub": 7}, "subject"),
        ({"sub": ["alice"]}, "subject"),
        ({"scope": 7}, "malformed"),
    ],
)
def test_claims_that_do_not_do(claims, words):
    with pytest.raises(SaslRefusedError, match=words):
        check(signed(claims))


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": NOW_S - 29},
        {"nbf": NOW_S + 29},
        {"exp": NOW_S + 0.5},
        {"aud": ["web", "other"]},
        {"scope": "a b"},
        {"scope": ["a", "b"]},
        {"sub": " alice "},
    ],
)
def test_claims_that_just_do(claims):
    assert check(signed(claims)).name == "alice"


def test_a_token_for_somebody_needs_an_expected_audience():
    rules = RULES._replace(audiences=frozenset())
    assert check(signed({"aud": None}), rules=rules).name == "alice"
    with pytest.raises(SaslRefusedError, match="audience"):
        check(signed(), rules=rules)


def test_another_claim_names_the_principal():
    rules = RULES._replace(subject_claim="client_id")
    assert check(signed({"client_id": "app"}), rules=rules).name == "app"
    with pytest.raises(SaslRefusedError):
        check(signed(), rules=rules)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "a",
        "a.b",
        "a.b.c",
        "..",
        "a.b.c.d.e",
        f"{part(b'[]')}.{part(CLAIMS)}.x",
        f"{part(b'{')}.{part(CLAIMS)}.x",
        f"{part(b'[' * 20_000)}.{part(CLAIMS)}.x",
        f"{part({'alg': 'RS256', 'kid': 7})}.{part(CLAIMS)}.x",
        f"{part({'alg': 'RS256', 'kid': 'k' * 1001})}.{part(CLAIMS)}.x",
        f"{part({'alg': 'RS256', 'crit': ['b64'], 'b64': False})}.{part(CLAIMS)}.x",
        f"{part({'alg': 'RS256', 'x': 'x' * 9000})}.{part(CLAIMS)}.x",
        "€.€.€",
    ],
)
def test_what_is_no_token(token):
    with pytest.raises(SaslRefusedError):
        check(token)


@pytest.mark.parametrize("payload", [b"", b"[]", b"7", b"{", b"[" * 20_000, b'{"exp": NaN}'])
def test_signed_nonsense(payload):
    with pytest.raises(SaslRefusedError, match="malformed"):
        check(signed(payload))


def test_a_whole_large_token_is_read():
    assert check(signed({"groups": ["g" * 50] * 1000})).name == "alice"


def test_keys_that_are_left_out():
    numbers = rsa.generate_private_key(65537, 1024).public_key().public_numbers()
    modulus = part(numbers.n.to_bytes(128))
    weak = {"kty": "RSA", "kid": "weak", "n": modulus, "e": "AQAB"}
    public = RSA.as_dict(private=False)
    for entry in (
        weak,
        public | {"use": "enc"},
        public | {"key_ops": ["encrypt"]},
        public | {"alg": "HS256"},
        public | {"n": "!"},
        public | {"kid": 7},
        public | {"key_ops": 7},
        {"kty": "RSA"},
        {"kty": "AKP", "kid": "new"},
        "key",
        None,
    ):
        found = json.dumps({"keys": [entry, EC["P-256"].as_dict(private=False)]}).encode()
        assert [key.kid for key in read_keys(found)] == ["P-256"]
        with pytest.raises(ValueError, match="no key"):
            read_keys(json.dumps({"keys": [entry]}).encode())
    only_512 = read_keys(json.dumps({"keys": [public | {"alg": "RS512"}]}).encode())
    assert matching(only_512, read_header(signed())) == []
    for broken in (b"", b"[]", b"{}", b'{"keys": 1}', b'{"keys": []}'):
        with pytest.raises(ValueError):
            read_keys(broken)


def test_a_flood_of_keys_costs_a_few_checks(monkeypatch):
    entry = RSA.as_dict(private=False)
    entries = [entry | {"kid": str(number)} for number in range(1000)]
    keys = read_keys(json.dumps({"keys": entries}).encode())
    assert len(keys) == jwt_tokens.KEYS_MAX
    assert len(matching(keys, read_header(signed(kid=None)))) == jwt_tokens.TRIED_KEYS_MAX


def unsecured(claims=None, algorithm="none", signature=""):
    return f"{part({'alg': algorithm})}.{part(CLAIMS | (claims or {}))}.{signature}"


def test_unsigned_tokens_where_they_were_asked_for():
    rules = rules_from({"unsecuredValidatorRequiredScope": "a b"})
    taken = identity_of_unsecured(unsecured({"scope": ["b", "a"]}), rules, NOW_S * 1000)
    assert taken == Identity("alice", (NOW_S + 60) * 1000)
    for token in (
        unsecured(),
        unsecured({"scope": "a b"}, algorithm="HS256"),
        unsecured({"scope": "a b"}, signature="x"),
        unsecured({"scope": "a b", "exp": NOW_S - 1}),
        unsecured({"scope": "a b", "sub": None}),
        "x",
    ):
        with pytest.raises(SaslRefusedError):
            identity_of_unsecured(token, rules, NOW_S * 1000)
    with pytest.raises(ValueError):
        rules_from({"unsecuredValidatorAllowableClockSkewMs": "-1"})


def test_the_oracle_agrees_about_hmac():
    """That the HMACs above are right: else the algorithm would not be what refuses them."""
    secret = OctKey.import_key("x" * 32)
    token = signed(key=secret, algorithm="HS256", kid=None)
    text, _, signature = token.rpartition(".")
    assert part(hmac.digest(b"x" * 32, text.encode(), hashlib.sha256)) == signature
