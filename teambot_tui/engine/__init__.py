"""The engine: what the team is doing, decided by rules without IO and carried out by one runner."""
