"""Sign-in by an OpenID provider: an independent one on loopback, and one that lies."""

import time
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import oidc_provider_mock
import pytest
import requests
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import Client

from console import oidc
from controlplane.administration.services.sign_in import configured_grants
from controlplane.administration.services.users import user_update
from controlplane.audit.models import AuditEvent
from controlplane.tenants.models import Membership, OidcIdentity
from controlplane.tenants.services import membership_ensure
from tests.console.hostile_provider import CLIENT, SECRET, new_key, serve
from tests.controlplane.support import ACTOR, tenant_make

pytestmark = pytest.mark.django_db
GRANT = {"claim": "groups", "value": "kafka", "tenant": "acme", "role": "operator"}


@pytest.fixture
def acme():
    return tenant_make()


@pytest.fixture
def configured(settings, acme):
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
    settings.OIDC_GRANTS, settings.OIDC_NAME = [GRANT], "Example"
    oidc.forget_provider()
    yield settings
    oidc.forget_provider()


@pytest.fixture
def liar(configured):
    """The provider that the test may make lie; it begins honest."""
    provider, server = serve()
    configured.OIDC_ISSUER = provider.url
    yield provider
    server.shutdown()
    server.server_close()


def begin(client, query=""):
    answer = client.get(f"/console/oidc/login{query}")
    assert answer.status_code == 302, answer.content
    return answer["Location"]


def sign_in(client, provider, query=""):
    """The whole round; where the browser ends."""
    back = provider.authorize(begin(client, query))
    return client.get(back)["Location"]


def user_of(client):
    return client.get("/console/api/session").json()["user"]


# -- an independent provider --------------------------------------------------------------------
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # it calls Authlib's older names
def test_the_whole_way_with_an_independent_provider(client, configured):
    with oidc_provider_mock.run_server_in_thread() as server:
        configured.OIDC_ISSUER = issuer = f"http://localhost:{server.server_port}"
        claims = {"preferred_username": "grace", "groups": ["kafka", "other"]}
        requests.put(f"{issuer}/users/subject-7", json=claims, timeout=5).raise_for_status()
        shown = client.get("/console/api/session").json()["sign_in"]
        assert shown == {"passwords": True, "provider": "Example"}
        url = begin(client, "?next=/operations?q=x")
        asked = parse_qs(urlsplit(url).query)
        assert {"state", "nonce", "code_challenge"} <= set(asked)
        assert asked["code_challenge_method"] == ["S256"]
        back = requests.post(url, data={"sub": "subject-7"}, allow_redirects=False, timeout=5)
        answer = client.get(back.headers["Location"])
        assert (answer.status_code, answer["Location"]) == (302, "/operations?q=x")
        again = client.get(back.headers["Location"])
        assert again["Location"] == "/login?failed=not-valid", "a callback is good once"
    user = User.objects.get()
    assert (user.username, user.is_staff, user.has_usable_password()) == ("grace", False, False)
    identity = OidcIdentity.objects.get()
    assert (identity.issuer, identity.subject, identity.user) == (issuer, "subject-7", user)
    assert Membership.objects.get(user=user).role == "operator"
    assert user_of(client)["username"] == "grace"
    assert AuditEvent.objects.filter(action="session.login", actor="user:grace").exists()


# -- a provider that lies -----------------------------------------------------------------------
def test_the_honest_round(client, liar):
    assert sign_in(client, liar) == "/"
    assert user_of(client)["username"] == "ada"


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"nonce": None, "nonce_supported": False},
        {"aud": "another client"},
        {"aud": None},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"azp": "another"},
        {"iss": "https://other.example"},
        {"iss": None},
        {"exp": timedelta(seconds=-120)},
        {"exp": None},
        {"exp": "tomorrow"},
        {"nbf": timedelta(hours=1)},
        {"iat": timedelta(hours=1)},
        {"sub": None},
        {"at_hash": "bm90IGl0"},
    ],
    ids=str,
)
def test_a_token_that_is_not_for_this_sign_in_opens_nothing(client, liar, claims):
    """Times are from now on: as numbers they would be other tests in each process."""
    now = int(time.time())
    liar.claims = {
        name: now + int(value.total_seconds()) if isinstance(value, timedelta) else value
        for name, value in claims.items()
    }
    assert sign_in(client, liar) == "/login?failed=not-valid"
    assert user_of(client) is None
    assert not User.objects.exists()
    row = AuditEvent.objects.get(action="session.login_failed")
    assert (row.outcome, row.resource) == ("refused", "oidc")


@pytest.mark.parametrize("claims", [{"sub": ""}, {"sub": "x" * 256}, {"sub": 7}])
def test_a_token_that_names_nobody_opens_nothing(client, liar, claims):
    liar.claims = claims
    assert sign_in(client, liar).startswith("/login?failed=not-")
    assert not User.objects.exists()


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_signed_by_nobody_or_with_the_client_s_secret_opens_nothing(
    client, liar, algorithm
):
    liar.algorithm = algorithm
    assert sign_in(client, liar) == "/login?failed=not-valid"
    assert not User.objects.exists()


def test_a_clock_may_be_off_by_a_minute_and_not_more(client, liar):
    liar.claims = {"exp": int(time.time()) - 30}
    assert sign_in(client, liar) == "/"


def test_another_key_of_the_provider_is_asked_for(client, liar):
    assert sign_in(client, liar) == "/"
    liar.key = new_key("second")
    assert sign_in(Client(), liar) == "/"
    assert liar.asked.count("/keys") == 2
    liar.published = [liar.key.as_dict(private=False)]
    liar.key = new_key("never published")
    assert sign_in(Client(), liar) == "/login?failed=not-valid"


def test_a_document_of_another_issuer_is_not_followed(client, liar):
    liar.document = {"issuer": "https://other.example"}
    assert client.get("/console/oidc/login")["Location"] == "/login?failed=away"


def test_only_loopback_is_reached_without_tls(client, configured):
    configured.OIDC_ISSUER = "http://issuer.example"
    assert client.get("/console/oidc/login")["Location"] == "/login?failed=away"


def test_a_provider_that_is_away_is_said_to_be(client, configured):
    configured.OIDC_ISSUER = "http://127.0.0.1:1"
    assert client.get("/console/oidc/login")["Location"] == "/login?failed=away"


def test_a_callback_without_its_beginning_opens_nothing(client, liar):
    """Somebody else's code and state: nobody is signed in as another by a link."""
    back = liar.authorize(begin(Client()))
    assert client.get(back)["Location"] == "/login?failed=not-valid"
    for query in ("", "?code=x", "?state=x", "?code=x&state=None", "?error=access_denied"):
        answer = client.get(f"/console/oidc/callback{query}")
        assert answer["Location"] == "/login?failed=not-valid", query
    assert user_of(client) is None


def test_a_code_is_exchanged_with_the_verifier_of_its_own_browser(client, liar):
    """A stolen code in a round of the thief's own: PKCE refuses it."""
    theirs = liar.authorize(begin(Client()))
    stolen = parse_qs(urlsplit(theirs).query)["code"][0]
    mine = parse_qs(urlsplit(begin(client)).query)["state"][0]
    answer = client.get(f"/console/oidc/callback?code={stolen}&state={mine}")
    assert answer["Location"] == "/login?failed=not-valid"
    assert len(liar.refusals) == 1
    assert user_of(client) is None


@pytest.mark.parametrize(
    "next_",
    [
        "https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example",
        "javascript:alert(1)", "http:evil.example", "/a\nb", "/%0a//evil\\x", "x" * 3_000, "evil",
        "/\t/evil.example", "",
    ],
)  # fmt: skip
def test_no_link_leads_off_the_site(client, liar, next_):
    back = liar.authorize(client.get("/console/oidc/login", {"next": next_})["Location"])
    ended = client.get(back)["Location"]
    assert ended == "/"


def test_a_session_of_before_is_not_the_one_after(client, liar):
    url = begin(client)
    before = client.cookies["penstock_session"].value
    client.get(liar.authorize(url))
    assert client.cookies["penstock_session"].value != before


# -- who somebody is, and what they get ---------------------------------------------------------
def test_nobody_becomes_an_existing_user_by_a_name_or_a_mail_address(client, liar, acme):
    there = User.objects.create_user("ada", email="ada@example.com", is_staff=True)
    liar.claims = {"email": "ada@example.com", "email_verified": True}
    assert sign_in(client, liar) == "/"
    made = OidcIdentity.objects.get().user
    assert made != there
    assert made.username.startswith("ada-")
    assert not made.is_staff
    assert user_of(client)["username"] == made.username
    assert sign_in(Client(), liar) == "/"
    assert User.objects.count() == 2, "the same subject is the same user"


def test_an_existing_login_is_linked_by_an_operator_only(client, liar, acme):
    user = User.objects.create_user("root", is_staff=True)
    call_command("user", "link-oidc", "root", "s-1")
    assert sign_in(client, liar) == "/"
    assert user_of(client) == {"username": "root", "email": "", "is_staff": True}
    assert OidcIdentity.objects.get().user == user
    with pytest.raises(CommandError, match="linked to a login already"):
        call_command("user", "link-oidc", "root", "s-1")


@pytest.mark.parametrize(
    ("claims", "word"),
    [
        ({"groups": []}, "not-allowed"),
        ({"groups": "kafka"}, None),
        ({"groups": {"kafka": True}}, "not-allowed"),
        ({"groups": [["kafka"]]}, "not-allowed"),
        ({"groups": None}, "not-allowed"),
    ],
)
def test_what_is_granted_to_nobody_is_nobody_s(client, liar, claims, word):
    liar.claims = claims
    assert sign_in(client, liar) == (f"/login?failed={word}" if word else "/")
    assert User.objects.exists() is (word is None)


@pytest.mark.parametrize(
    ("claims", "is_in"),
    [
        ({"email": "ada@example.com", "email_verified": True}, True),
        ({"email": "ada@EXAMPLE.com", "email_verified": True}, True),
        ({"email": "ada@example.com", "email_verified": False}, False),
        ({"email": "ada@example.com", "email_verified": "true"}, False),
        ({"email": "ada@example.com"}, False),
        ({"email": "ada@example.com.evil.example", "email_verified": True}, False),
        ({"email": "example.com@evil.example", "email_verified": True}, False),
        ({}, False),
    ],
)
def test_only_verified_addresses_of_allowed_domains_come_in(client, liar, settings, claims, is_in):
    settings.OIDC_DOMAINS = ["example.com"]
    liar.claims = claims
    assert sign_in(client, liar) == ("/" if is_in else "/login?failed=not-allowed")


def test_roles_follow_the_claims_at_every_sign_in(client, liar, settings, acme):
    membership_ensure(tenant=acme, user=User.objects.create_user("owner"), role="owner")
    other = tenant_make("other")
    settings.OIDC_GRANTS = [
        GRANT,
        {**GRANT, "value": "admins", "role": "owner"},
        {"claim": "email_domain", "value": "example.com", "tenant": "other", "role": "viewer"},
    ]
    liar.claims = {
        "groups": ["kafka", "admins"], "email": "ada@example.com", "email_verified": True,
    }  # fmt: skip
    sign_in(client, liar)
    user = OidcIdentity.objects.get().user
    roles = Membership.objects.filter(user=user)
    assert dict(roles.values_list("tenant__slug", "role")) == {"acme": "owner", "other": "viewer"}
    liar.claims["groups"] = ["kafka"]
    sign_in(client, liar)
    assert roles.get(tenant=acme).role == "operator"
    liar.claims["groups"] = []
    sign_in(client, liar)
    assert [row.tenant for row in roles] == [other]
    liar.claims = {"groups": []}
    assert sign_in(Client(), liar) == "/login?failed=not-allowed"
    assert not roles.all().exists(), "what the claims no longer grant is gone, sign-in or not"


def test_the_last_owner_stays_one_and_that_is_recorded(client, liar, settings, acme):
    settings.OIDC_GRANTS = [{**GRANT, "role": "owner"}]
    sign_in(client, liar)
    liar.claims = {"groups": []}
    sign_in(client, liar)
    assert Membership.objects.get(tenant=acme).role == "owner"
    assert AuditEvent.objects.filter(action="member.change", outcome="refused").exists()


def test_an_ended_login_is_not_opened_by_the_provider(client, liar, acme):
    sign_in(client, liar)
    name = OidcIdentity.objects.get().user.username
    user_update(username=name, email="", is_active=False, is_operator=False, actor=ACTOR)
    assert user_of(client) is None
    assert sign_in(Client(), liar) == "/login?failed=not-allowed"


@pytest.mark.parametrize("row", [{}, "x", {**GRANT, "role": "root"}, {**GRANT, "more": 1}])
def test_grants_that_are_none_are_named(settings, row):
    settings.OIDC_GRANTS = [GRANT, row]
    with pytest.raises(ImproperlyConfigured, match=r"PENSTOCK_OIDC_GRANTS\[1\]"):
        configured_grants()


# -- doors ----------------------------------------------------------------------------------------
def test_without_a_provider_there_is_none(client, db):
    assert client.get("/console/api/session").json()["sign_in"]["provider"] is None
    for name in ("login", "callback"):
        answer = client.get(f"/console/oidc/{name}")
        assert (answer.status_code, answer["Content-Type"]) == (404, "application/problem+json")


def test_passwords_can_be_switched_off(client, liar, settings, acme):
    settings.PASSWORD_SIGN_IN = False
    user = User.objects.create_user("bob", password="correct horse battery")
    body = {"username": "bob", "password": "correct horse battery"}
    answer = client.post("/console/api/login", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "passwords-off")
    client.force_login(user)
    change = {"old_password": "correct horse battery", "new_password": "another long phrase"}
    answer = client.post("/console/api/password", change, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "passwords-off")
    assert client.get("/console/api/session").json()["sign_in"]["passwords"] is False
    assert sign_in(Client(), liar) == "/"


@pytest.mark.parametrize("is_wanted", [True, False])
def test_signing_out_ends_the_session_there_too_if_wanted(client, liar, settings, is_wanted):
    settings.OIDC_LOGOUT = is_wanted
    sign_in(client, liar)
    url = client.post("/console/api/logout").json()["logout_url"]
    assert user_of(client) is None
    assert (url is not None) is is_wanted
    if url:
        assert url.startswith(f"{liar.url}/logout?")
        assert parse_qs(urlsplit(url).query)["client_id"] == [CLIENT]


def test_a_session_of_a_password_ends_here_alone(client, liar, settings):
    settings.OIDC_LOGOUT = True
    client.force_login(User.objects.create_user("bob"))
    assert client.post("/console/api/logout").json()["logout_url"] is None
