"""The built single-page app: hashed assets for ever, the page itself never cached."""

import mimetypes
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase

from controlplane.common.problems import NotFound, Unavailable
from controlplane.common.views import problem_response

IMMUTABLE = "public, max-age=31536000, immutable"


def dist() -> Path:
    return Path(settings.FRONTEND_DIST)


def spa_view(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """index.html for every page address; a real file of the build when the path names one."""
    root = dist()
    if path and (found := _file(root, path)) is not None:
        content_type = mimetypes.guess_type(found.name)[0] or "application/octet-stream"
        response: HttpResponseBase = FileResponse(found.open("rb"), content_type=content_type)
        response["Cache-Control"] = IMMUTABLE if path.startswith("assets/") else "no-cache"
        return response
    if path.startswith("assets/"):
        return problem_response(request, NotFound("There is no such file in the build."))
    index = root / "index.html"
    if not index.is_file():
        detail = "The console is not built yet: run `npm ci && npm run build` in frontend/."
        return problem_response(request, Unavailable(detail, code="console-not-built"))
    page = HttpResponse(index.read_bytes(), content_type="text/html; charset=utf-8")
    page["Cache-Control"] = "no-cache"
    return page


def _file(root: Path, path: str) -> Path | None:
    """The file that `path` names inside `root`; None when it leads outside or nowhere."""
    try:
        candidate = (root / path).resolve()
        is_ours = candidate.is_relative_to(root.resolve()) and candidate.is_file()
    except (OSError, ValueError):
        return None  # no file can have this name: too long, or a null in it
    return candidate if is_ours else None
