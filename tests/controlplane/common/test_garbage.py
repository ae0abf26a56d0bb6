"""What the web process has loaded is not looked through for garbage while requests wait."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
SAY = """
import gc, sys
import controlplane.asgi
print(len(gc.get_objects()) < gc.get_freeze_count(), "controlplane.analytics.api" in sys.modules)
"""


def test_the_web_process_has_loaded_its_views_and_keeps_them_out_of_searches(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SAY],
        env={**os.environ, "PENSTOCK_DATA_DIR": str(tmp_path)},
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "True"]
