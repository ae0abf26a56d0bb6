"""The key and certificates that a broker was sent, as files: the broker serves what stands there.

They come sealed under Kafka's keys for PEM text and become files under Kafka's keys for those, so
that a renewed certificate takes no restart.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "ssl.keystore.key"
CHAIN = "ssl.keystore.certificate.chain"
TRUSTED = "ssl.truststore.certificates"
KEYSTORE_FILE, TRUSTSTORE_FILE = "keystore.pem", "truststore.pem"


def to_files(secret: Mapping[str, str], home: Path) -> dict[str, str]:
    """The broker's sealed settings, with files in `home` in the place of PEM text. OSError."""
    settings = dict(secret)
    key, chain, trusted = (settings.pop(name, "") for name in (KEY, CHAIN, TRUSTED))
    if key and chain:
        # One file and one rename: a broker never reads the new key with the old certificate.
        _replace(home / KEYSTORE_FILE, f"{key.strip()}\n{chain.strip()}\n")
        settings["ssl.keystore.type"] = "PEM"
        settings["ssl.keystore.location"] = str(home / KEYSTORE_FILE)
    if trusted:
        _replace(home / TRUSTSTORE_FILE, f"{trusted.strip()}\n")
        settings["ssl.truststore.type"] = "PEM"
        settings["ssl.truststore.location"] = str(home / TRUSTSTORE_FILE)
    return settings


def _replace(path: Path, text: str) -> None:
    """For this user alone from its first byte; one that says the same already is left alone."""
    try:
        if path.read_text(encoding="ascii") == text:
            return
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    temporary = path.with_name(f"{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
