"""`make simulate-fleet`: prints the tables, and writes them to build/fleet.md."""

import argparse
import contextlib
import logging
import os
import sys
import tempfile
import time
from pathlib import Path

from tests.redis_server import RedisServer

HASH_SEED = "0"
OUT = Path("build/fleet.md")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fleet", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="the fleet of the unit tests")
    parser.add_argument("--hosts", type=int)
    parser.add_argument("--clusters", type=int)
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != HASH_SEED:
        # As with `make simulate`: the order of sets is part of what a seed decides.
        os.environ["PYTHONHASHSEED"] = HASH_SEED
        os.execv(sys.executable, [sys.executable, "-m", "tests.fleet", *sys.argv[1:]])
    with tempfile.TemporaryDirectory(prefix="fleet-") as directory, contextlib.ExitStack() as parts:
        redis = RedisServer(Path(directory))
        parts.callback(redis.kill)
        redis.start()
        os.environ |= {
            "DJANGO_SETTINGS_MODULE": "controlplane.settings",
            "DATABASE_URL": "sqlite://:memory:",
            "PENSTOCK_DATA_DIR": directory,
            "PENSTOCK_REDIS_URL": redis.url,
        }
        import django

        django.setup()
        logging.disable(logging.WARNING)
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    from dataclasses import replace

    from tests.fleet.assumed import SMALL, Assumed
    from tests.fleet.run import lines_of

    assumed = SMALL if options.small else Assumed()
    given = {
        name: value
        for name in ("hosts", "clusters")
        if (value := getattr(options, name)) is not None
    }
    began_s = time.process_time()
    lines, faults = lines_of(options.seed, replace(assumed, **given))
    print("\n".join(lines))
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text("\n".join(lines))
    print(f"{time.process_time() - began_s:.0f} s of CPU; written to {OUT}")
    for fault in faults:
        print(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
