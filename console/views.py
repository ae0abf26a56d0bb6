"""`GET /console/api/pages/<name>/<address…>`: one page's parts."""

from django.http import HttpRequest, HttpResponseBase

from console.http import access_of, answer, json_door
from console.pages.registry import PAGES
from console.parts import RUNNER
from controlplane.common.problems import NotFound

NO_SUCH_PAGE = "The console has no such page."


@json_door("GET")
def page_view(
    request: HttpRequest, name: str, first: str | None = None, rest: str | None = None
) -> HttpResponseBase:
    """Names of topics and groups may hold slashes, so the second segment takes all the rest."""
    access = access_of(request)
    page = PAGES.get(name)
    address = [segment for segment in (first, rest) if segment is not None]
    if page is None or page.segments != len(address):
        raise NotFound(NO_SUCH_PAGE)
    parts = page.build(access.tenant, *address)
    scope = "/".join([access.tenant.id, name, *address])
    return answer({"parts": RUNNER.run(scope, parts)})


@json_door("GET", "POST")
def no_such_door(request: HttpRequest, path: str = "") -> HttpResponseBase:
    del request, path
    raise NotFound(NO_SUCH_PAGE)
