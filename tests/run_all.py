"""Every stage of `make test`, cheapest first; the first that fails ends the run.

Stages that mostly wait (for brokers, for a browser) leave room for those that only compute: they run
side by side, the latter with lower priority. What a stage printed is shown when it has ended, and at
the end of the run there is one line for each. With `KEEP_GOING=1` in the environment a failure ends only
its own stage.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from dataplane.runtime.parent_death import die_with_parent

REPOSITORY = Path(__file__).resolve().parents[1]
TIMEOUT_S = float(os.environ.get("STAGE_TIMEOUT_S", "2400"))
"""A stage that hangs is named, long before whoever runs this gives up. It is no bound on speed: the
longest stage took 1,555 s to over 1,800 s on machines of two threads of one core. One that fills gaps
has twice as long: it is held up on purpose.
"""
STOP_TIMEOUT_S = 60.0
POLL_S = 0.1
FILLING_NICE = 10
PASSED = re.compile(r"\b(\d+) passed\b")
SKIPPED = re.compile(r"\b(\d+) skipped\b")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# Ctrl-C first, so that tests stop what they started.
STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Stage:
    name: str
    command: tuple[str, ...]
    after: tuple[str, ...] = ()
    fills_gaps: bool = False
    """It computes and hardly waits: others beside it go first."""


def target(name: str, make: str, *after: str, fills_gaps: bool = False) -> Stage:
    return Stage(name, ("make", "--no-print-directory", make), after, fills_gaps)


CHECKED = ("types", "frontend")
STAGES = (
    target("lint", "lint"),
    target("imports", "imports", "lint"),
    target("types", "types", "imports"),
    target("frontend", "test-frontend", "imports"),
    target("unit", "test-unit", *CHECKED, fills_gaps=True),
    target("postgres", "test-postgres", "unit", fills_gaps=True),
    target("integration", "test-integration", *CHECKED),
    target("faults", "test-faults-quick", "integration"),
    target("e2e", "test-e2e-quick", "integration"),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    stage: Stage
    status: int
    seconds: float
    cpu_s: float
    """Of its processes that were waited for; a daemon that it started is not in it."""
    output: str
    note: str = ""

    @property
    def passed(self) -> bool:
        return self.status == 0 and not self.note and not self.only_skipped

    @property
    def only_skipped(self) -> bool:
        """A stage of tests of which none could run has shown nothing."""
        tests, skipped = last_number(PASSED, self.output), last_number(SKIPPED, self.output)
        return tests == "-" and skipped not in {"-", "0"}

    def line(self) -> str:
        tests, skipped = last_number(PASSED, self.output), last_number(SKIPPED, self.output)
        said = self.note or ("passed" if self.passed else "failed")
        return (
            f"{self.stage.name:<12}{said:<10}{tests:>8}{skipped:>9}"
            f"{self.seconds:>9.0f}{self.cpu_s:>9.0f}"
        )


HEADINGS = f"{'stage':<12}{'':<10}{'tests':>8}{'skipped':>9}{'seconds':>9}{'CPU-s':>9}"


def last_number(pattern: re.Pattern[str], output: str) -> str:
    """As the stage's own summary says it, at its end; `-` where it counts nothing."""
    found = pattern.findall(COLOURS.sub("", output[-5_000:]))
    return found[-1] if found else "-"


def _signals_of_its_own() -> Callable[[], None]:
    """For a child, before it executes: it takes Ctrl-C, and does not outlive this process.

    A shell's background job ignores Ctrl-C, and whatever it starts would, too.
    """
    arm = die_with_parent(signal.SIGTERM)

    def begin() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if arm is not None:
            arm()

    return begin


@dataclass(slots=True)
class Running:
    """A stage's processes, in a group of their own, and a file for what they print."""

    stage: Stage
    begun_s: float = field(default_factory=time.monotonic)
    _output: IO[bytes] = field(default_factory=tempfile.TemporaryFile)
    _process: subprocess.Popen[bytes] = field(init=False)
    _asked_to_stop: list[float] = field(default_factory=list)
    _note: str = ""

    def __post_init__(self) -> None:
        lower = ("nice", "-n", str(FILLING_NICE)) if self.stage.fills_gaps else ()
        self._process = subprocess.Popen(
            [*lower, *self.stage.command],
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            cwd=REPOSITORY,
            # Not a session: where a session is a unit of scheduling, priorities count within it.
            process_group=0,
            preexec_fn=_signals_of_its_own(),  # noqa: PLW1509 - loaded before the fork
        )

    def ended(self, timeout_s: float) -> Outcome | None:
        pid, status, usage = os.wait4(self._process.pid, os.WNOHANG)
        seconds = time.monotonic() - self.begun_s
        if pid == 0:
            if seconds > timeout_s:
                self.stop(f"over {timeout_s:.0f} s")
            return None
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self._output.seek(0)
        output = self._output.read().decode(errors="replace")
        self._output.close()
        cpu_s = usage.ru_utime + usage.ru_stime
        return Outcome(self.stage, self._process.returncode, seconds, cpu_s, output, self._note)

    def stop(self, note: str) -> None:
        """Each call that comes late enough after the one before asks with more force."""
        self._note = self._note or note
        asked = self._asked_to_stop
        now_s = time.monotonic()
        if asked and (now_s - asked[-1] < STOP_TIMEOUT_S or len(asked) == len(STOPS)):
            return
        os.killpg(self._process.pid, STOPS[len(asked)])
        asked.append(now_s)


def run(
    stages: Sequence[Stage], timeout_s: float = TIMEOUT_S, *, keeps_going: bool = False
) -> list[Outcome]:
    """Those that ended, in that order; after one that failed the others are stopped, unless it
    `keeps_going` to see all that fails.
    """
    waiting, running, outcomes = list(stages), list[Running](), list[Outcome]()
    stopped = ""
    while running or (waiting and not stopped):
        if _asked_to_stop:
            stopped = stopped or "stopped"
        done = {outcome.stage.name for outcome in outcomes if outcome.passed or keeps_going}
        begun = [each for each in waiting if not stopped and done.issuperset(each.after)]
        if not (running or begun or stopped):
            raise ValueError(f"nothing comes before {', '.join(each.name for each in waiting)}")
        for stage in begun:
            say(f"== {stage.name} begins")
            waiting.remove(stage)
            running.append(Running(stage))
        for each in list(running):
            if stopped:
                each.stop(stopped)
            limit_s = timeout_s * (2 if each.stage.fills_gaps else 1)
            if (outcome := each.ended(limit_s)) is not None:
                running.remove(each)
                outcomes.append(outcome)
                show(outcome)
                if not outcome.passed and not keeps_going:
                    stopped = stopped or "stopped"
        time.sleep(POLL_S)
    return outcomes


def show(outcome: Outcome) -> None:
    name = outcome.stage.name
    verdict = outcome.note or ("passed" if outcome.passed else f"failed ({outcome.status})")
    say(f"\n== {name}\n{outcome.output.rstrip()}\n== {name}: {verdict} in {outcome.seconds:.0f} s")


def say(text: str) -> None:
    print(text, flush=True)


_asked_to_stop: list[int] = []


def interrupt(number: int, _frame: object) -> None:
    """Looked at once a turn: an exception could come between a stage's end and its account."""
    _asked_to_stop.append(number)


def main() -> int:
    # Hypothesis takes the same examples each time then: a change is not refused for what another run
    # finds. The stages by themselves, `make simulate` and `make fuzz` look for new ones.
    os.environ["CI"] = os.environ.get("CI") or "true"
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGINT, interrupt)
    begun_s = time.monotonic()
    outcomes = run(STAGES, keeps_going=bool(os.environ.get("KEEP_GOING")))
    say("\n".join(["", HEADINGS, *(outcome.line() for outcome in outcomes)]))
    names = {outcome.stage.name for outcome in outcomes if outcome.passed}
    missing = [stage.name for stage in STAGES if stage.name not in names]
    seconds = time.monotonic() - begun_s
    if missing:
        say(f"\nNot passed: {', '.join(missing)} (after {seconds:.0f} s)")
        return 1
    say(f"\nAll stages passed in {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
