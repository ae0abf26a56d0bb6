"""Keys that live in a file of the data directory, created once, readable by the owner only."""

import base64
import os
import secrets
from pathlib import Path


def key_from_file(path: Path) -> str:
    """The key in `path`; a fresh url-safe base64 key of 32 bytes when there is none.

    Web, worker and beat may start at once: the first to link its file wins, all read that one.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_bytes(base64.urlsafe_b64encode(secrets.token_bytes(32)))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first; its key is the one
        finally:
            draft.unlink()
    return path.read_text().strip()
