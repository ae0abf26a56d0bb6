"""Properties files."""

from __future__ import annotations

from dataplane.config import parse_properties


def test_the_forms_that_java_reads() -> None:
    text = r"""
# comment
! comment too
a=1
b : two words
c  three
  d = x \
      y
e=p\=q\u0041
f
g=C:\\temp
listeners=PLAINTEXT://127.0.0.1:9092
a=2
"""
    assert parse_properties(text) == {
        "a": "2",
        "b": "two words",
        "c": "three",
        "d": "x y",
        "e": "p=qA",
        "f": "",
        "g": "C:\\temp",
        "listeners": "PLAINTEXT://127.0.0.1:9092",
    }
