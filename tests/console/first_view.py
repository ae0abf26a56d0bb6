"""What a browser loads of the build before the overview shows its data."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENTRY, PAGE = "index.html", "overview-page"
FONTS = ("inter-latin-", "jetbrains-mono-latin-")
"""The faces that every page uses; those of other scripts are loaded by what a page holds."""


@dataclass(frozen=True, slots=True)
class FirstView:
    """Names of files of the build, each with what it is when sent, bytes."""

    script_bytes: dict[str, int]
    style_bytes: dict[str, int]
    font_bytes: dict[str, int]
    page_bytes: dict[str, int]

    @property
    def kinds(self) -> tuple[dict[str, int], ...]:
        return (self.script_bytes, self.style_bytes, self.font_bytes, self.page_bytes)

    @property
    def total_bytes(self) -> int:
        return sum(sum(files.values()) for files in self.kinds)

    @property
    def count(self) -> int:
        return sum(map(len, self.kinds))

    def summary(self) -> str:
        def kilo(files: dict[str, int]) -> str:
            return f"{sum(files.values()) / 1000:.1f} kB in {len(files)}"

        return (
            f"scripts {kilo(self.script_bytes)}, styles {kilo(self.style_bytes)}, "
            f"fonts {kilo(self.font_bytes)}, page {kilo(self.page_bytes)}: "
            f"{self.total_bytes / 1000:.1f} kB"
        )


def first_view(dist: Path) -> FirstView:
    """By the build's manifest: the entry, the overview, and all that both import at once."""
    manifest = json.loads((dist / ".vite" / "manifest.json").read_text())
    scripts: set[str] = set()
    styles: set[str] = set()
    # With what it imports the page is a group of the build's, which has no module's name.
    waiting = [ENTRY, *(name for name, chunk in manifest.items() if chunk.get("name") == PAGE)]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        chunk = manifest[name]
        scripts.add(chunk["file"])
        styles.update(chunk.get("css", ()))
        waiting += chunk.get("imports", ())
    fonts = {
        f"assets/{file.name}"
        for file in (dist / "assets").glob("*.woff2")
        if re.fullmatch(rf"({'|'.join(FONTS)})[\w-]{{8}}\.woff2", file.name)
    }
    return FirstView(
        *({name: sent_bytes(dist / name) for name in names} for names in (scripts, styles, fonts)),
        {ENTRY: sent_bytes(dist / ENTRY)},
    )


def files_of_pages(dist: Path) -> dict[str, int]:
    """How many files each page, or part that is loaded later, needs beside the first ones."""
    manifest = json.loads((dist / ".vite" / "manifest.json").read_text())
    first = _closure(manifest, ENTRY)
    late = [name for name, chunk in manifest.items() if chunk.get("isDynamicEntry")]
    return {name: len(_closure(manifest, name) - first) for name in late}


def _closure(manifest: Mapping[str, Any], entry: str) -> set[str]:
    files: set[str] = set()
    waiting, seen = [entry], {entry}
    while waiting:
        chunk = manifest[waiting.pop()]
        files |= {chunk["file"], *chunk.get("css", ())}
        found = set(chunk.get("imports", ())) - seen
        seen |= found
        waiting += found
    return files


def sent_bytes(file: Path) -> int:
    """As brotli where the build has that."""
    compressed = file.with_name(f"{file.name}.br")
    return (compressed if compressed.is_file() else file).stat().st_size
