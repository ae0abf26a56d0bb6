"""Damages a stopped broker's files by a seed: flipped bytes, truncated files, random bytes."""

from __future__ import annotations

import pathlib
import random

FLIPS_MAX = 4
RANDOM_BYTES_MAX = 200
LEADER_EPOCH = range(12, 16)
"""Its bytes in a batch; what the batch's length counts begins there too."""


def flip(rng: random.Random, path: pathlib.Path) -> str:
    """Change up to four bytes; says what was done, for whoever reads a failure."""
    content = bytearray(path.read_bytes())
    chosen = {rng.randrange(len(content)) for _ in range(rng.randint(1, FLIPS_MAX))}
    spared = leader_epochs(content) if path.suffix == ".log" else set()
    places = sorted(chosen - spared)
    for place in places:
        content[place] ^= rng.randint(1, 255)
    path.write_bytes(content)
    return f"{path.parent.name}/{path.name}: bytes {places} of {len(content)} flipped"


def leader_epochs(segment: bytes) -> set[int]:
    """Where batches hold their leader epoch: no checksum covers it, in Kafka's format as such.

    A change there is not damage that a start could see, so it is not asked for.
    """
    places: set[int] = set()
    position = 0
    while position + LEADER_EPOCH.stop <= len(segment):
        places.update(range(position + LEADER_EPOCH.start, position + LEADER_EPOCH.stop))
        length = int.from_bytes(segment[position + 8 : position + 12], "big")
        position += LEADER_EPOCH.start + length
    return places


def truncate(rng: random.Random, path: pathlib.Path) -> str:
    """Leave only the beginning of the file, perhaps nothing."""
    size = path.stat().st_size
    left = rng.randrange(size)
    with path.open("r+b") as file:
        file.truncate(left)
    return f"{path.parent.name}/{path.name}: truncated from {size} to {left} bytes"


def fill_randomly(rng: random.Random, path: pathlib.Path) -> str:
    """Write a file of random bytes where none was."""
    content = rng.randbytes(rng.randint(1, RANDOM_BYTES_MAX))
    path.write_bytes(content)
    return f"{path.parent.name}/{path.name}: {len(content)} random bytes"


def damage_partition(rng: random.Random, directory: pathlib.Path, *, with_log: bool) -> list[str]:
    """About half of a partition's helper files, and of its last segment if `with_log`.

    The last segment only: after an unclean stop that is what recovery reads again. Damage in what
    was flushed long ago is found by whoever reads it (CRC), in Kafka as here.
    """
    done = []
    segments = sorted(directory.glob("*.log"))
    for path in sorted(directory.iterdir()):
        is_helper = path.suffix in {".index", ".timeindex", ".txnindex", ".snapshot"}
        is_helper |= path.name == "leader-epoch-checkpoint"
        is_tail = with_log and segments and path == segments[-1]
        if (is_helper or is_tail) and path.stat().st_size and rng.random() < 0.5:
            done.append((flip if rng.random() < 0.5 else truncate)(rng, path))
    if segments and rng.random() < 0.3:
        done.append(fill_randomly(rng, rng.choice(segments).with_suffix(".txnindex")))
    return done


CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
)


def damage_checkpoints(rng: random.Random, log_dir: pathlib.Path) -> list[str]:
    """The checkpoint files of a whole log directory."""
    done = []
    for name in CHECKPOINTS:
        path = log_dir / name
        if path.exists() and path.stat().st_size and rng.random() < 0.5:
            done.append((flip if rng.random() < 0.5 else truncate)(rng, path))
    return done
