"""The screen: the only package that knows a terminal. It shows what the engine knows and decides nothing."""
