"""The built single-page app: hashed assets for ever, the page itself asked for again each time.

The build lies beside its compressed forms (`frontend/vite/precompress.ts`); each browser gets the
smallest that it takes. Nothing is open to other origins: no page but ours loads these files.
"""

import hashlib
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers

from console.encodings import accepted_encodings
from controlplane.common.problems import NotFound, Unavailable
from controlplane.common.views import problem_response

IMMUTABLE = "public, max-age=31536000, immutable"
ASKED_AGAIN = "no-cache"
COMPRESSED = {"br": ".br", "gzip": ".gz"}
"""Encodings that the build has, the smallest first, and how the names of their files end."""

CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
"""What a build may hold; other files are not served. The machine's own table is not asked."""


def dist() -> Path:
    return Path(settings.FRONTEND_DIST)


def spa_view(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """index.html for every page address; a real file of the build when the path names one."""
    root = dist()
    if path and (found := _file(root, path)) is not None:
        kept = IMMUTABLE if path.startswith("assets/") else ASKED_AGAIN
        return _answer(request, found, kept)
    if path.startswith("assets/"):
        return problem_response(request, NotFound("The file was not found."))
    index = root / "index.html"
    if not index.is_file():
        detail = "The console is not built yet: run `npm ci && npm run build` in frontend/."
        return problem_response(request, Unavailable(detail, code="console-not-built"))
    return _answer(request, index, ASKED_AGAIN)


def _answer(request: HttpRequest, file: Path, kept: str) -> HttpResponse:
    """The file, or 304 to who has it; in the smallest form that the request accepts."""
    encoding, content = _smallest(file, request.headers.get("Accept-Encoding", ""))
    response = HttpResponse(content, content_type=CONTENT_TYPES[file.suffix])
    response["Cache-Control"] = kept
    # Of the bytes that are sent: a strong tag may not be shared by two encodings.
    response["ETag"] = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    if encoding is not None:
        response["Content-Encoding"] = encoding
    patch_vary_headers(response, ["Accept-Encoding"])
    answer: HttpResponse = response
    if request.method in ("GET", "HEAD"):
        answer = (
            get_conditional_response(request, etag=response["ETag"], response=response) or response
        )
    if file.suffix == ".html":
        # Also with a 304, which names no type: browsers put its headers over the kept page's.
        answer["Content-Security-Policy"] = settings.PAGE_SECURITY_POLICY
    return answer


def _smallest(file: Path, accept: str) -> tuple[str | None, bytes]:
    accepted = accepted_encodings(accept)
    for encoding, ending in COMPRESSED.items():
        compressed = file.with_name(file.name + ending)
        if encoding in accepted and compressed.is_file():
            return encoding, compressed.read_bytes()
    return None, file.read_bytes()


def _file(root: Path, path: str) -> Path | None:
    """The file that `path` names inside `root`; None when it leads outside or nowhere."""
    try:
        candidate = (root / path).resolve()
        is_ours = candidate.is_relative_to(root.resolve()) and candidate.is_file()
    except (OSError, ValueError):
        return None  # no file can have this name: too long, or a null in it
    if not is_ours or candidate.suffix not in CONTENT_TYPES:
        return None
    # What the build says about itself (`.vite/`) is no part of the console.
    hidden = any(part.startswith(".") for part in candidate.relative_to(root.resolve()).parts)
    return None if hidden else candidate
