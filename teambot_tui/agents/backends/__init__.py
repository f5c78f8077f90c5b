"""What an agent really is: one module per kind of backend, each importing what it needs on first use."""
