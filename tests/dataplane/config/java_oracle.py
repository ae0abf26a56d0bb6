"""What `java.util.Properties` itself makes of texts, and the cases of which its answers are kept.

python -m tests.dataplane.config.java_oracle     # writes java_properties.json, needs a JDK
"""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SOURCE = pathlib.Path(__file__).parent / "java" / "PropertiesOracle.java"
EXPECTED = pathlib.Path(__file__).parent / "java_properties.json"
TIMEOUT_S = 60
NO_LINE_ENDS = "\v\x1c\x1d\x1e\x85\u2028\u2029"
"""Where `str.splitlines` ends a line and Java does not."""

TEXTS = (
    "",
    "a=1\nb=2\rc=3\r\nd=4",
    "a=1\na=2",
    "# comment\n! comment\n  # indented\na=#no\nb=!no",
    "#comment\\\na=1",
    "a = 1\nb : 2\nc  3\nd\t4\ne\f5\nf\t=\t6\ng=:7\nh==8\ni  = : 9",
    "a\na2=\na3:\n=empty key\n:x",
    "  \t\f leading=1\n\n\t\n",
    "a=trailing  \t\nb=x",
    "a=one \\\n   two\\\r\n\tthree\\\rfour",
    "a=x\\\\\nb=x\\\\\\\ny",
    "a=x\\\n# part of it\nb=x\\\n\nc=3",
    "\\\na=1",
    "\\\n#comment\na=1",
    "a=x\\",
    "a\\ b=1\na\\=b=2\na\\:b=3\n\\#a=4\n\\!b=5\na\\tb=6\n\\ c=7",
    "a=\\ leading\nb=\\n\\r\\t\\f\\\\\nc=\\a\\b\\'\\\"\\z\nd=\\=\\:\\#\\!",
    "a=\\u0041\\u00e9\\u00E9\\u2028\nb=\\ud83d\\ude00\nc=\\u0000\n\\u0061b=\\u003d",
    "a=\\U0041",
    "a=\\u004",
    "a=\\u00g0",
    "a=\\u",
    "\\u12=a",
    *(f"a=1{char}log.dirs=/x\nb=2" for char in NO_LINE_ENDS),
    *(f"a{char}=1" for char in NO_LINE_ENDS),
    "a\u00a0b=1\na\u3000b=2\n\u00a0c=3",
    "schlüssel=größe\nn=\U0001f600",
    "listeners=PLAINTEXT://:9092,SSL://[::1]:9093\nlog.dirs=C:\\\\kafka\\\\logs",
)
"""Read by Java; some of them it refuses."""


def is_here() -> bool:
    """Whether there is a JDK that runs a source file."""
    return bool(shutil.which("java") and shutil.which("javac"))


def load(texts: Iterable[str]) -> list[dict[str, str] | None]:
    """The pairs of every text; None where Java refuses it."""
    answers = _run("load " + _encode(text) for text in texts)
    return [
        None if words[0] == "error" else _pairs([_decode(word) for word in words[1:]])
        for words in answers
    ]


def store(settings: Iterable[Mapping[str, str]], *, to_bytes: bool) -> list[str]:
    """The files that Java writes: for `to_bytes` with everything beyond Latin-1's ASCII escaped."""
    command = "store-ascii" if to_bytes else "store"
    answers = _run(
        " ".join([command, *(_encode(text) for pair in each.items() for text in pair)])
        for each in settings
    )
    return [_decode(words[1]) for words in answers]


def _run(lines: Iterable[str]) -> list[list[str]]:
    asked = "".join(f"{line}\n" for line in lines)
    done = subprocess.run(
        ["java", str(SOURCE)],
        input=asked.encode(),
        capture_output=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    return [line.split(" ") for line in done.stdout.decode().splitlines()]


def _pairs(words: list[str]) -> dict[str, str]:
    return dict(zip(words[::2], words[1::2], strict=True))


def _encode(text: str) -> str:
    return "." + text.encode("utf-16-be", "surrogatepass").hex().upper()


def _decode(field: str) -> str:
    return bytes.fromhex(field[1:]).decode("utf-16-be", "surrogatepass")


if __name__ == "__main__":
    rows = [{"text": t, "pairs": p} for t, p in zip(TEXTS, load(TEXTS), strict=True)]
    EXPECTED.write_text(json.dumps(rows, indent=1) + "\n")
