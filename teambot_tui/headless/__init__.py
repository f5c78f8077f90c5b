"""The headless face: a submission runs to its end, and every step of it is printed."""
