"""Several steps of which each has to be tried, whatever the disk says to the others."""

from __future__ import annotations

from collections.abc import Callable


def try_all(*steps: Callable[[], object]) -> OSError | None:
    """Run every step; the first error of the disk, if there was one."""
    refused: OSError | None = None
    for step in steps:
        try:
            step()
        except OSError as error:
            refused = refused or error
    return refused
