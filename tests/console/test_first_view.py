"""The first view stays light: what the build holds, not how fast this machine is."""

from pathlib import Path

import pytest

from tests.console.first_view import FONTS, files_of_pages, first_view

DIST = Path(__file__).resolve().parents[2] / "frontend" / "dist"
LIMIT_BYTES = 200_000
HEADERS_BYTES = 520
"""Of each file: what `make bench-console` counts beside the bodies, rounded up."""
FILES_MAX, PAGES_LEAST = 35, 30
LATE_WORDS = (
    "Age at which a segment is rolled.",  # a setting's own description (`generated/settings`)
    "Reads topics in a consumer group and commits its offsets.",  # a template of rules
    "You may look at this, not change it",  # words of late parts
    "See the record that is read first",  # words of plans
    "no broker is left behind",  # what steps of operations say
)

pytestmark = pytest.mark.skipif(
    not (DIST / ".vite" / "manifest.json").is_file(), reason="the console is not built"
)


def test_the_first_view_leaves_room_for_headers():
    view = first_view(DIST)
    print(view.summary())
    assert view.total_bytes + view.count * HEADERS_BYTES <= LIMIT_BYTES, view


def test_no_page_waits_for_many_small_files():
    """A browser asks for six at a time: of up to 93 that a page was cut into, the last came late."""
    found = files_of_pages(DIST)
    assert len(found) > PAGES_LEAST
    assert {name: count for name, count in found.items() if count > FILES_MAX} == {}


def test_it_is_counted_whole():
    view = first_view(DIST)
    assert any(name.startswith("assets/overview-page-") for name in view.script_bytes)
    assert len(view.font_bytes) == len(FONTS)
    assert len(view.style_bytes) == 1
    # Every script has its compressed form, or is too small for one.
    for name, size in view.script_bytes.items():
        assert (DIST / f"{name}.br").is_file() or size < 600, name


def test_what_only_forms_and_plans_say_is_not_in_it():
    view = first_view(DIST)
    first = "".join((DIST / name).read_text() for name in view.script_bytes)
    assert [words for words in LATE_WORDS if words in first] == []
    # Each is in a file of the build, so that the words above mean something.
    every = "".join(file.read_text() for file in (DIST / "assets").glob("*.js"))
    assert [words for words in LATE_WORDS if words not in every] == []


def test_charts_and_what_places_menus_are_not_in_it():
    view = first_view(DIST)
    late = ("echart-", "menus-", "fields-", "controls-", "plans-", "sign-in-again")
    found = [name for name in view.script_bytes | view.style_bytes for part in late if part in name]
    assert found == []
    # Each is a file of its own, so that the names above mean something.
    names = " ".join(file.name for file in (DIST / "assets").iterdir())
    assert [part for part in late if part not in names] == []
