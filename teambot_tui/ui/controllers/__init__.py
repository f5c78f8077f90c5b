"""Plain controllers of the session's screen, each given what it needs."""
