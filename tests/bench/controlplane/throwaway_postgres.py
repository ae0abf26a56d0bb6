"""A PostgreSQL on loopback for one measurement, with its usual settings: fsync is on."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def postgres() -> Iterator[str]:
    """Its DATABASE_URL; stopped and removed at the end."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        raise SystemExit("no PostgreSQL under /usr/lib/postgresql")
    work = Path(tempfile.mkdtemp(prefix="penstock-pg-"))
    as_owner: list[str] = []
    if os.getuid() == 0:  # PostgreSQL refuses to run as root
        owner = pwd.getpwnam("postgres")
        os.chown(work, owner.pw_uid, owner.pw_gid)
        as_owner = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [*as_owner, str(programs[-1] / program), "-D", str(work / "data"), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
        )

    run("initdb", "-U", "penstock", "--auth=trust", "--encoding=UTF8", "--locale=C")
    options = f"-p {port} -k {work} -c listen_addresses=127.0.0.1"
    run("pg_ctl", "-w", "-o", options, "-l", str(work / "log"), "start")
    try:
        yield f"postgres://penstock@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-m", "immediate", "stop")
        shutil.rmtree(work, ignore_errors=True)
