"""Large answers of the console's pages and of REST lists leave compressed.

With BREACH in mind: an attacker who sees lengths must neither make a signed-in browser ask again
and again nor have what they typed stand beside a secret. So only reads of lists and pages are
compressed, none of which hold secrets (what a session, a login or a one-time secret answers never
is); the session's cookie is `SameSite=Lax`, so that other sites' scripts and images ask without
it; and Django adds a random number of bytes to each answer, so that its length says little.
"""

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

COMPRESSED = ("/console/api/pages/", "/api/v1/")
"""Beginnings of the addresses whose GET answers may be compressed."""

SECRET_WORDS = ("credentials", "client-config", "secret", "keys", "tokens", "invitations", "users")
"""An address with one of these as a segment may answer with what nobody else may know."""

SMALLEST_BYTES = 2_048
"""Below it the time is worth more than the bytes."""

MEDIA_TYPES = ("application/json", "text/csv")


def may_be_compressed(request: HttpRequest) -> bool:
    if request.method != "GET" or not request.path.startswith(COMPRESSED):
        return False
    return not set(request.path.split("/")) & set(SECRET_WORDS)


class PageCompressionMiddleware(GZipMiddleware):
    """Django's, for large reads alone. Streams of events stay as they are: they may not wait."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        media_type = response.headers.get("Content-Type", "").partition(";")[0]
        if not isinstance(response, HttpResponse) or media_type not in MEDIA_TYPES:
            return response
        if not may_be_compressed(request) or len(response.content) < SMALLEST_BYTES:
            return response
        return super().process_response(request, response)
