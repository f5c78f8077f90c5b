"""`teambot`, or `python -m teambot_tui`: alone it opens the screen; words are for the command line."""

from __future__ import annotations

import errno
import os
import signal
import sys


def main() -> None:
    """Open the screen at once, or do what the words say."""
    if sys.platform == "win32":
        sys.stderr.write("Error: teambot does not run on Windows itself: install and start it in WSL.\n")
        sys.exit(2)
    _open_closed_streams()
    try:
        _main()
    finally:
        _flush_output()


def _main() -> None:
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


def _open_closed_streams() -> None:
    """Let a standard stream that was closed lead nowhere, before a file of ours takes its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.dup2(nowhere := os.open(os.devnull, os.O_RDWR), number)
            if nowhere != number:
                os.close(nowhere)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _flush_output() -> None:
    """Say why the output is not complete, unless the one who read it has left."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except OSError as error:
            # What is still buffered would fail again when the interpreter ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if error.errno not in (errno.EPIPE, errno.EIO):
                sys.stderr.write(f"Error: The output cannot be written: {error.strerror}.\n")
                sys.exit(2)


if __name__ == "__main__":
    main()
