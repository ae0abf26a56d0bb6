"""Who may talk to the local ZooKeeper: logins made at the first start, in files for us alone.

`super` is above every ACL and used by nobody here; `controlplane` is the web's and the workers';
`member` lets the agent and its brokers in, and reaches no node by itself. What the host agent owns
comes from `manage.py zookeeper host`.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from zookeeper_access import files, keys

SUPER, CONTROL_PLANE, MEMBER = "super", "controlplane", "member"
PASSWORD_BYTES = 24


def ensure(folder: Path) -> dict[str, str]:
    """The server's users and their passwords, made where they are missing. AccessError, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    users = {}
    for name in (SUPER, CONTROL_PLANE, MEMBER):
        file = folder / f"{name}.properties"
        if not file.exists():
            settings = {
                keys.SASL_USERNAME: name,
                keys.SASL_PASSWORD: secrets.token_urlsafe(PASSWORD_BYTES),
            }
            if name != MEMBER:
                settings[keys.SET_ACL] = "true"
            files.write(file, settings)
        users[name] = files.read(file)[keys.SASL_PASSWORD]
    return users
