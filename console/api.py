"""`/console/api`: the session of a person, and the pages."""

from http import HTTPStatus
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from console import oidc, profile, session
from console.pages.registry import PAGES, Page
from console.parts import RUNNER
from console.revisions import (
    AGES,
    ages,
    known_by_sources,
    says_the_same,
    tag_of_page,
)
from console.serializers import (
    AcceptanceSerializer,
    InvitationTokenSerializer,
    LoginSerializer,
    OpenInvitationSerializer,
    PasswordChangeSerializer,
    SessionSerializer,
    SignedOutSerializer,
    TenantChoiceSerializer,
)
from console.sources import Sources
from controlplane.common.exception_handler import MEDIA_TYPE
from controlplane.common.hashing import canonical_json
from controlplane.common.limits import SMALL_BODY_MAX_BYTES
from controlplane.common.openapi import PROBLEM, documented
from controlplane.common.parsers import JsonBodyParser
from controlplane.common.problems import NotFound
from controlplane.common.views import problem_response
from controlplane.tenants.authentication import ConsoleSessionAuthentication
from controlplane.tenants.views import TenantView

TAG = "console"
NO_STORE = {"Cache-Control": "no-store"}


class SmallBodyParser(JsonBodyParser):
    """Whoever is not signed in may have little read and hashed."""

    bytes_max = SMALL_BODY_MAX_BYTES


@method_decorator(csrf_protect, name="dispatch")
class OwnSessionView(APIView):
    """A person's own session, open to the signed-out too; each write is CSRF-checked."""

    authentication_classes = (ConsoleSessionAuthentication,)
    permission_classes = (AllowAny,)
    parser_classes = (SmallBodyParser,)

    def answer(self) -> Response:
        return Response(session.session_dict(self.request), headers=NO_STORE)


class SessionView(OwnSessionView):
    @documented(
        "console_session", answers={200: SessionSerializer}, tag=TAG, summary="Who is signed in"
    )
    def get(self, request: Request) -> Response:
        del request
        return self.answer()


class LoginView(OwnSessionView):
    @documented(
        "console_login",
        body=LoginSerializer,
        answers={200: SessionSerializer, (429, MEDIA_TYPE): PROBLEM},
        tag=TAG,
        summary="Sign in",
    )
    def post(self, request: Request) -> Response:
        given = LoginSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        session.sign_in(request, **given.validated_data)
        return self.answer()


class LogoutView(OwnSessionView):
    @documented("console_logout", answers={200: SignedOutSerializer}, tag=TAG, summary="Sign out")
    def post(self, request: Request) -> Response:
        leads_to = oidc.logout_url(request)
        session.sign_out(request)
        body = {**session.session_dict(request), "logout_url": leads_to}
        return Response(body, headers=NO_STORE)


class TenantChoiceView(OwnSessionView):
    @documented(
        "console_tenant",
        body=TenantChoiceSerializer,
        answers={200: SessionSerializer},
        tag=TAG,
        summary="Act for another of one's tenants",
    )
    def post(self, request: Request) -> Response:
        if not isinstance(request.user, User):
            raise session.SignedOut
        given = TenantChoiceSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        session.choose_tenant(request, request.user, given.validated_data["slug"])
        return self.answer()


class PasswordView(OwnSessionView):
    @documented(
        "console_password",
        body=PasswordChangeSerializer,
        answers={200: SessionSerializer, (429, MEDIA_TYPE): PROBLEM},
        tag=TAG,
        summary="Change one's password; one's other sessions end",
    )
    def post(self, request: Request) -> Response:
        if not isinstance(request.user, User):
            raise session.SignedOut
        given = PasswordChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        values = given.validated_data
        profile.change_password(request, values["old_password"], values["new_password"])
        return self.answer()


class InvitationView(OwnSessionView):
    @documented(
        "console_invitation",
        body=InvitationTokenSerializer,
        answers={200: OpenInvitationSerializer, (410, MEDIA_TYPE): PROBLEM},
        tag=TAG,
        summary="What a one-time link leads to",
    )
    def post(self, request: Request) -> Response:
        given = InvitationTokenSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        return Response(profile.invitation_dict(given.validated_data["token"]), headers=NO_STORE)


class AcceptanceView(OwnSessionView):
    @documented(
        "console_invitation_accept",
        body=AcceptanceSerializer,
        answers={200: SessionSerializer, (410, MEDIA_TYPE): PROBLEM},
        tag=TAG,
        summary="Open a one-time link: join its tenant, or set the password that it is for",
    )
    def post(self, request: Request) -> Response:
        given = AcceptanceSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        profile.open_invitation(request, **given.validated_data)
        return self.answer()


def not_modified(tag: str, how_old: str) -> Response:
    headers = {**NO_STORE, "ETag": f"W/{tag}", AGES: how_old}
    return Response(status=HTTPStatus.NOT_MODIFIED, headers=headers)


def page_view(name: str, page: Page) -> type[TenantView]:
    """The view of one page: a class of its own, so that the document shows each page's shape."""

    class PageView(TenantView):
        area = page.area
        sources: Sources | None = None
        wanted: list[Any]

        @documented(
            f"console_page_{name}",
            answers={200: page.shape},
            parameters=page.query.parameters() if page.query else None,
            tag=TAG,
            summary=page.summary,
        )
        def get(self, request: Request, **address: str) -> Response:
            wanted = self.wanted = []
            if page.query:
                wanted += [page.query.asked(request, self.access, address)]
            self.sources = None
            if page.sources is not None:
                self.sources = page.sources(self.tenant, self.scope, *address.values())
                if (unread := self._unread(request)) is not None:
                    return unread
            parts = page.build(self.tenant, self.scope, *wanted, *address.values())
            # Of the tenant and of what the viewer sees of it: an answer is kept for no one else.
            kept = "/".join(
                [self.tenant.id, self.scope.mark, name, *address.values(), *map(repr, wanted)]
            )
            return Response({"parts": RUNNER.run(kept, parts)}, headers=NO_STORE)

        def _asked(self, request: Request) -> str:
            """By whom, of what they have marked if they ask by that, and for what."""
            marked = sorted(name for each in self.wanted for name in each.first)
            return canonical_json(
                [self.tenant.id, self.scope.mark, request.get_full_path(), marked]
            )

        def _unread(self, request: Request) -> Response | None:
            """The answer without reading the page, where what it is made of says enough."""
            if self.sources is None or self.known_tags is None:
                return None
            known = known_by_sources(self.known_tags, self._asked(request), self.sources)
            return None if known is None else not_modified(*known)

        def _tagged(self, request: Request, response: Response, shown: dict[str, Any]) -> Response:
            """By what it says, however old that is: see `revisions`."""
            if response.status_code != HTTPStatus.OK:
                return response
            tag = tag_of_page(self._asked(request), shown["parts"], self.sources)
            if self.known_tags is not None and says_the_same(self.known_tags, tag):
                return not_modified(tag, ages(shown["parts"]))
            response["ETag"] = f"W/{tag}"
            return response

    return PageView


def page_urls() -> list[URLPattern]:
    return [
        path(f"console/api/pages/{name}{page.address}", page_view(name, page).as_view())
        for name, page in PAGES.items()
    ]


@csrf_exempt  # nothing is carried out; 404 for every method
def no_such_page(request: HttpRequest, **_: Any) -> JsonResponse:
    return problem_response(request, NotFound("The page was not found."))
