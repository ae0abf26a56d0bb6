"""Django's command line for the control plane: `python manage.py help`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "controlplane.settings")
    from controlplane.common.command_line import run

    run(sys.argv)


if __name__ == "__main__":
    main()
