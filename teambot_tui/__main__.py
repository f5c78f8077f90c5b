"""`teambot`, or `python -m teambot_tui`: alone it opens the screen; words are for the command line."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Open the screen at once, or do what the words say."""
    # A shell that wants completions gives no words either.
    if sys.argv[1:] or "_TEAMBOT_COMPLETE" in os.environ:
        from teambot_tui.cli import main as command_line  # noqa: PLC0415  only if there is something to read

        command_line(prog_name="teambot")
    from teambot_tui.opening import CannotOpenError, open_screen  # noqa: PLC0415

    try:
        sys.exit(open_screen())
    except CannotOpenError as error:
        sys.stderr.write(f"Error: {error}\n")
        sys.exit(2)
    except KeyboardInterrupt:  # while it is being opened; the screen itself has its own way to leave
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()
