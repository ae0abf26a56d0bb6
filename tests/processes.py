"""Processes that a test did not start itself, but something that it started."""

from pathlib import Path


def children(parent: int) -> list[int]:
    """Pids of the processes whose parent is `parent`, in order of their age."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = status.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(after_name[1]) == parent:
            found.append(int(status.parent.name))
    return sorted(found)
