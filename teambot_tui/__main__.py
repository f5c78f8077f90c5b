"""`python -m teambot_tui` is `teambot`."""

from teambot_tui.cli import main

main(prog_name="teambot")
