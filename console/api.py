"""`GET /console/api/pages/<name>/<address…>`: one page's parts."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.urls import URLPattern, path
from rest_framework.request import Request
from rest_framework.response import Response

from console.pages.registry import PAGES, Page
from console.parts import RUNNER
from controlplane.common.openapi import documented
from controlplane.common.problems import NotFound
from controlplane.common.views import problem_response
from controlplane.tenants.views import TenantView

TAG = "console"
NO_STORE = {"Cache-Control": "no-store"}


def page_view(name: str, page: Page) -> type[TenantView]:
    """The view of one page: a class of its own, so that the document shows each page's shape."""

    class PageView(TenantView):
        @documented(
            f"console_page_{name}", answers={200: page.shape}, tag=TAG, summary=page.summary
        )
        def get(self, request: Request, **address: str) -> Response:
            del request
            parts = page.build(self.tenant, *address.values())
            scope = "/".join([self.tenant.id, name, *address.values()])
            return Response({"parts": RUNNER.run(scope, parts)}, headers=NO_STORE)

    return PageView


def page_urls() -> list[URLPattern]:
    return [
        path(f"console/api/pages/{name}{page.address}", page_view(name, page).as_view())
        for name, page in PAGES.items()
    ]


def no_such_page(request: HttpRequest, **_: Any) -> JsonResponse:
    return problem_response(request, NotFound("The console has no such page."))
