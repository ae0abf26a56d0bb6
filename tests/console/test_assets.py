"""The build as browsers get it: compressed, kept or asked for again, and nothing outside of it."""

import gzip

import cramjam
import pytest
from django.test import Client

from console.encodings import ITEMS_MAX, accepted_encodings

SCRIPT = b"export const answer = 42;\n" * 200
PAGE = b"<title>Penstock</title>" + b" " * 600
SCRIPT_AT, FONT_AT = "/assets/index-abc.js", "/assets/inter-abc.woff2"


@pytest.fixture
def build(settings, tmp_path):
    root = tmp_path / "dist"
    (root / "assets").mkdir(parents=True)
    (root / ".vite").mkdir()
    (root / ".vite" / "manifest.json").write_text("{}")
    for name, content in (("index.html", PAGE), (SCRIPT_AT[1:], SCRIPT)):
        (root / name).write_bytes(content)
        (root / f"{name}.br").write_bytes(bytes(cramjam.brotli.compress(content)))
        (root / f"{name}.gz").write_bytes(gzip.compress(content))
    (root / FONT_AT[1:]).write_bytes(b"wOF2")
    (root / "favicon.svg").write_text("<svg/>")
    (root / "notes.exe").write_text("no part of a build")
    (tmp_path / "secret.txt").write_text("outside")
    settings.FRONTEND_DIST = root
    return root


def get(address, accept=None, **headers):
    if accept is not None:
        headers["Accept-Encoding"] = accept
    return Client().get(address, headers=headers)


@pytest.mark.parametrize(
    ("accept", "encoding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("gzip", "gzip"),
        ("br;q=0, gzip;q=0.5", "gzip"),
        ("*", "br"),
        ("GZIP", "gzip"),
        ("identity", None),
        ("", None),
        (None, None),
        ("br;q=nonsense", None),
    ],
)
@pytest.mark.parametrize("address", [SCRIPT_AT, "/", "/clusters/c1/topics"])
def test_the_smallest_that_a_browser_takes(build, address, accept, encoding):
    answer = get(address, accept)
    assert answer.status_code == 200
    assert answer.get("Content-Encoding") == encoding
    assert "Accept-Encoding" in answer["Vary"]
    undo = {"br": lambda body: bytes(cramjam.brotli.decompress(body)), "gzip": gzip.decompress}
    body = undo.get(encoding, bytes)(answer.content)
    assert body == (SCRIPT if address == SCRIPT_AT else PAGE)


def test_what_accept_encoding_means():
    assert accepted_encodings("gzip;q=0, *;q=1") == {"br"}
    assert accepted_encodings("*;q=0") == frozenset()
    assert accepted_encodings("x," * ITEMS_MAX + "gzip") == frozenset()


def test_hashed_files_are_kept_for_ever_and_the_page_is_asked_for_again(build):
    assert get(SCRIPT_AT)["Cache-Control"] == "public, max-age=31536000, immutable"
    for address in ("/", "/index.html", "/favicon.svg", "/topics"):
        assert get(address)["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("address", ["/", "/operations", SCRIPT_AT, "/favicon.svg"])
def test_who_has_it_is_told_so_in_a_few_bytes(build, address):
    first = get(address, "br")
    again = get(address, "br", **{"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert again["Cache-Control"] == first["Cache-Control"]
    assert "Accept-Encoding" in again["Vary"]
    assert get(address, "br", **{"If-None-Match": '"another"'}).status_code == 200


def test_a_page_that_is_still_the_same_keeps_its_policy(build):
    """Browsers put the headers of a 304 over those of the page that they kept."""
    first = get("/topics")
    again = get("/topics", **{"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    assert "script-src 'self';" in first["Content-Security-Policy"]
    assert again["Content-Security-Policy"] == first["Content-Security-Policy"]


def test_another_build_and_another_encoding_have_another_tag(build):
    tags = {get("/", accept)["ETag"] for accept in ("br", "gzip", "identity")}
    assert len(tags) == 3
    (build / "index.html").write_bytes(PAGE + b"<!-- new -->")
    assert get("/", "identity")["ETag"] not in tags


def test_types_are_ours_and_no_other_origin_may_load_them(build):
    types = {
        SCRIPT_AT: "text/javascript; charset=utf-8",
        FONT_AT: "font/woff2",
        "/favicon.svg": "image/svg+xml",
        "/": "text/html; charset=utf-8",
    }
    for address, content_type in types.items():
        answer = get(address, Origin="https://evil.example")
        assert answer["Content-Type"] == content_type
        assert "Access-Control-Allow-Origin" not in answer
        assert answer["Cross-Origin-Resource-Policy"] == "same-origin"
        assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "assets/../../secret.txt",
        "assets/%2e%2e/%2e%2e/secret.txt",
        "assets/..%2f..%2fsecret.txt",
        "assets//etc/passwd",
        "assets/%00.js",
        "assets/" + "a" * 5_000 + ".js",
        "assets/index-abc.js.br",
        "assets/none.js",
    ],
)
def test_nothing_but_files_of_the_build(build, path):
    answer = get(f"/{path}")
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path",
    ["../secret.txt", "%2e%2e/secret.txt", ".vite/manifest.json", "notes.exe", "index.html.gz"],
)
def test_other_addresses_are_the_page(build, path):
    assert get(f"/{path}").content == PAGE


def test_a_link_that_leads_outside_is_no_file(build):
    (build / "assets" / "link.txt").symlink_to(build.parent / "secret.txt")
    assert get("/assets/link.txt").status_code == 404


def test_a_build_that_is_not_there_says_so(settings, tmp_path):
    settings.FRONTEND_DIST = tmp_path / "none"
    answer = get("/")
    assert (answer.status_code, answer.json()["code"]) == (503, "console-not-built")
