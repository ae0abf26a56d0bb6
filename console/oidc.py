"""Sign-in by an OpenID provider: authorization code with PKCE, state and nonce, by Authlib.

The browser is sent away and comes back; what binds both halves lies in its session. Of the ID
token issuer, audience, signature, times and nonce are checked, with signatures of public keys
alone; the keys are asked for again when the provider signs with another one. Whatever fails, the
login page says it in a word, the log and the audit say more.
"""

import logging
from typing import Any
from urllib.parse import urlencode, urlsplit

import requests
from authlib.integrations.base_client import OAuthError
from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from joserfc.errors import JoseError

from console.profile import LOGIN_BACKEND, actor_of
from console.session import audit_session
from controlplane.administration.services.sign_in import user_of_claims
from controlplane.audit.services import refusal_record
from controlplane.common.problems import NotFound, Problem
from controlplane.common.ratelimit import network_of
from controlplane.common.views import problem_response

log = logging.getLogger(__name__)

CALLBACK_PATH = "/console/oidc/callback"
SIGNED_IN_BY_PROVIDER = "penstock_oidc"
NEXT = "penstock_oidc_next"
NEXT_MAX = 2_000
ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
"""Public keys only: with a shared secret, or none, whoever knows the client's secret signs."""
LEEWAY_S = 60
"""How far the provider's clock may be off."""
LOOPBACK = {"127.0.0.1", "::1", "localhost"}
TIMEOUT_S = 5.0
ROUND_TRIP_S = 600
"""How long a session of somebody who is not signed in yet is kept."""


class ProviderError(Exception):
    """The provider is not the one that is configured, or does not say who it is."""


class Provider(DjangoOAuth2App):  # type: ignore[misc] # untyped base
    """The configured provider; one per process keeps its addresses and keys."""

    def load_server_metadata(self) -> dict[str, Any]:
        issuer = urlsplit(settings.OIDC_ISSUER)
        if issuer.scheme != "https" and issuer.hostname not in LOOPBACK:
            raise ProviderError("the issuer is not reached by https")
        metadata: dict[str, Any] = super().load_server_metadata()
        if metadata.get("issuer") != settings.OIDC_ISSUER:
            raise ProviderError("the provider's document names another issuer")
        offered = metadata.get("id_token_signing_alg_values_supported") or ["RS256"]
        metadata["id_token_signing_alg_values_supported"] = [
            name for name in ALGORITHMS if name in offered
        ]
        return metadata


_provider: Provider | None = None


def provider() -> Provider:
    """Raises NotFound when none is configured."""
    global _provider  # noqa: PLW0603 - its addresses and keys are asked for once per process
    if not settings.OIDC_ISSUER:
        raise NotFound("No OpenID provider is configured.")
    if _provider is None:
        issuer = settings.OIDC_ISSUER.rstrip("/")
        _provider = Provider(
            DjangoIntegration("penstock"),
            "penstock",
            client_id=settings.OIDC_CLIENT_ID,
            client_secret=settings.OIDC_CLIENT_SECRET or None,
            server_metadata_url=f"{issuer}/.well-known/openid-configuration",
            client_kwargs={
                "scope": settings.OIDC_SCOPES,
                "code_challenge_method": "S256",
                "default_timeout": TIMEOUT_S,
            },
        )
    return _provider


def forget_provider() -> None:
    """Other settings: its addresses and keys are asked for again."""
    global _provider  # noqa: PLW0603 - see provider()
    _provider = None


def login_view(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider; `next` is where it goes afterwards, on this site only."""
    if request.method != "GET":
        return _wrong_method(request)
    try:
        found = provider()
        redirect_uri = request.build_absolute_uri(CALLBACK_PATH)
        answer: HttpResponse = found.authorize_redirect(request, redirect_uri)
    except NotFound as refused:
        return problem_response(request, refused)
    except (requests.RequestException, ProviderError, OAuthError, ValueError) as error:
        return _failed(request, "away", error)
    request.session[NEXT] = own_path(request.GET.get("next", ""))
    if not request.user.is_authenticated:
        request.session.set_expiry(ROUND_TRIP_S)
    return answer


def callback_view(request: HttpRequest) -> HttpResponse:
    """The browser is back: exchange the code, see who it is, open a session."""
    if request.method != "GET":
        return _wrong_method(request)
    try:
        found = provider()
        options = {
            "iss": {"essential": True, "value": settings.OIDC_ISSUER},
            "aud": {"essential": True, "value": settings.OIDC_CLIENT_ID},
        }
        token = found.authorize_access_token(request, claims_options=options, leeway=LEEWAY_S)
        claims = token.get("userinfo")
        if not claims:
            raise ProviderError("the provider sent no ID token")
        user = user_of_claims(issuer=settings.OIDC_ISSUER, claims=claims, actor=actor_of(request))
    except NotFound as refused:
        return problem_response(request, refused)
    except Problem as refused:
        return _failed(request, "not-allowed", refused)
    except requests.RequestException as error:
        return _failed(request, "away", error)
    except (OAuthError, JoseError, ProviderError, ValueError, KeyError, TypeError) as error:
        return _failed(request, "not-valid", error)
    following = own_path(str(request.session.pop(NEXT, "/")))
    request.session.set_expiry(None)
    login(request, user, backend=LOGIN_BACKEND)
    request.session[SIGNED_IN_BY_PROVIDER] = True
    audit_session(request, "session.login")
    return HttpResponseRedirect(following)


def logout_url(request: HttpRequest) -> str | None:
    """Where the provider ends its own session, for one that it opened and if it has to."""
    is_theirs = request.session.get(SIGNED_IN_BY_PROVIDER) is True
    if not (settings.OIDC_ISSUER and settings.OIDC_LOGOUT and is_theirs):
        return None
    try:
        made = provider().create_logout_url(
            post_logout_redirect_uri=request.build_absolute_uri("/login"),
            client_id=settings.OIDC_CLIENT_ID,
        )
    except (requests.RequestException, ProviderError, RuntimeError) as error:
        log.warning("the OpenID provider's session goes on: %s", error)
        return None
    return str(made["url"])


def own_path(text: str) -> str:
    """`text` if it is a path of this site, else the first page: no link leads off it."""
    if len(text) > NEXT_MAX or not text.isprintable() or "\\" in text:
        return "/"
    is_own = text.startswith("/") and not text.startswith("//")
    return text if is_own else "/"


def _failed(request: HttpRequest, word: str, error: Exception) -> HttpResponse:
    """Nothing of what the provider or the caller sent is shown: it may be anybody's text."""
    log.warning("sign-in by the OpenID provider failed (%s): %s", word, type(error).__name__)
    request.session.pop(NEXT, None)
    actor = actor_of(request)
    refusal_record(
        tenant_id="",
        actor=actor,
        who=network_of(actor.remote_address),
        action="session.login_failed",
        resource="oidc",
        data={},
        reason=error.code if isinstance(error, Problem) else type(error).__name__,
    )
    return HttpResponseRedirect(f"/login?{urlencode({'failed': word})}")


def _wrong_method(request: HttpRequest) -> HttpResponse:
    refusal = Problem("Use GET.", status=405, code="method-not-allowed")
    answer = problem_response(request, refusal)
    answer["Allow"] = "GET"
    return answer
