"""The extension loaded by itself is the package's own, and the package stays out of a start."""

from __future__ import annotations

import subprocess
import sys

import crc32c as package
from hypothesis import given
from hypothesis import strategies as st

from dataplane.wire.crc import crc32c


def test_the_check_value_of_the_standard() -> None:
    assert crc32c(b"123456789") == 0xE3069283


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_it_is_the_packages_own(head: bytes, tail: bytes) -> None:
    assert crc32c(memoryview(head)) == package.crc32c(head)
    assert crc32c(bytearray(tail), crc32c(head)) == package.crc32c(head + tail)


def test_a_broker_does_not_look_up_its_distributions() -> None:
    code = "import sys, dataplane.compose.broker_process as _; print('importlib.metadata' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
