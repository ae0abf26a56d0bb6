"""The runner of the stages: in order, side by side, and ended by the first that fails."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.architecture.test_tidy import REPOSITORY
from tests.run_all import FILLING_NICE, STAGES, Stage, run

LONG_S = 600.0
QUICK_S = 60.0


def shell(name, script, *after, fills_gaps=False):
    return Stage(name, ("sh", "-c", script), after, fills_gaps)


def test_every_stage_waits_for_stages_that_are_there_and_come_before():
    names = [stage.name for stage in STAGES]
    for at, stage in enumerate(STAGES):
        assert set(stage.after) <= set(names[:at]), stage
    assert len(set(names)) == len(names)


def test_what_waits_for_nobody_runs_side_by_side_and_the_rest_after_it(tmp_path, capfd):
    # Each of the two waits for the other: one after the other they would never end.
    meet = "touch {0}/{1}; until [ -e {0}/{2} ]; do sleep 0.01; done; echo {1}: 7 passed"
    stages = (
        shell("a", meet.format(tmp_path, "a", "b")),
        shell("b", meet.format(tmp_path, "b", "a"), fills_gaps=True),
        shell("c", f"ls {tmp_path}; echo 11 passed, 2 skipped", "a", "b"),
    )
    outcomes = run(stages, QUICK_S)
    assert {outcome.stage.name for outcome in outcomes[:2]} == {"a", "b"}
    assert outcomes[2].output == "a\nb\n11 passed, 2 skipped\n"
    assert all(outcome.passed for outcome in outcomes)
    assert outcomes[2].line().split()[:4] == ["c", "passed", "11", "2"]
    assert "== c: passed in" in capfd.readouterr().out


def test_what_fills_gaps_has_a_lower_priority():
    found = [run([shell("n", "nice", fills_gaps=fills)], QUICK_S)[0] for fills in (False, True)]
    plain, filling = (int(outcome.output) for outcome in found)
    assert plain == os.nice(0)
    # 19 is as low as it gets.
    assert filling == min(19, plain + FILLING_NICE)


@pytest.mark.parametrize("taken_by_us", [signal.SIG_DFL, signal.SIG_IGN])
def test_one_that_fails_stops_those_beside_it_and_begins_none(tmp_path, taken_by_us):
    """Also where the run is a shell's background job, which ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, taken_by_us)
    try:
        one_fails(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)


def one_fails(tmp_path):
    stopped = tmp_path / "stopped"
    beside = (
        f"trap 'touch {stopped}; exit 1' INT; touch {tmp_path}/up; while :; do sleep 0.05; done"
    )
    stages = (
        shell("beside", beside),
        shell("failing", f"until [ -e {tmp_path}/up ]; do sleep 0.01; done; echo no; exit 3"),
        shell("never", f"touch {tmp_path}/never", "failing"),
    )
    begun_s = time.monotonic()
    outcomes = {outcome.stage.name: outcome for outcome in run(stages, LONG_S)}
    assert time.monotonic() - begun_s < QUICK_S
    assert set(outcomes) == {"beside", "failing"}
    assert outcomes["failing"].status == 3
    assert not any(outcome.passed for outcome in outcomes.values())
    assert stopped.exists()
    assert not (tmp_path / "never").exists()


def test_one_that_fails_leaves_the_others_alone_where_the_run_keeps_going():
    stages = (
        shell("failing", "exit 3"),
        shell("beside", "sleep 0.3; echo 1 passed"),
        shell("after", "echo 2 passed", "failing"),
    )
    outcomes = {each.stage.name: each for each in run(stages, QUICK_S, keeps_going=True)}
    assert {name: each.passed for name, each in outcomes.items()} == {
        "failing": False,
        "beside": True,
        "after": True,
    }


def test_one_whose_tests_were_all_skipped_has_not_passed():
    (outcome,) = run([shell("s", "echo 12 skipped in 3 s")], QUICK_S)
    assert not outcome.passed
    (outcome,) = run([shell("s", "echo 1 passed, 12 skipped in 3 s")], QUICK_S)
    assert outcome.passed


def test_a_stage_after_one_that_is_not_there_is_a_mistake():
    with pytest.raises(ValueError, match="nothing comes before lost"):
        run([shell("lost", "true", "nobody")], QUICK_S)


def test_one_that_hangs_is_named_and_ends():
    (outcome,) = run([shell("hangs", "exec sleep 600")], 1.0)
    assert not outcome.passed
    assert "over 1 s" in outcome.line()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_whoever_stops_the_run_stops_its_stages(tmp_path, number):
    program = (
        "import signal; from tests import run_all;"
        "signal.signal(signal.SIGINT, run_all.interrupt);"
        "signal.signal(signal.SIGTERM, run_all.interrupt);"
        f"stage = run_all.Stage('s', ('sh', '-c', 'echo $$ > {tmp_path}/new; mv {tmp_path}/new"
        f" {tmp_path}/pid; exec sleep 600'));"
        "print(run_all.run([stage])[0].note)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    ) as process:
        deadline_s = time.monotonic() + QUICK_S
        while not (tmp_path / "pid").exists():
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
        process.send_signal(number)
        said, _ = process.communicate(timeout=QUICK_S)
    assert said.splitlines()[-1] == "stopped"
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
