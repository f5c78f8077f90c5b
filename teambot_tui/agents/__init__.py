"""The agents: who is on the team, how each one speaks, and the program or server that really answers."""
