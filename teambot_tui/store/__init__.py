"""What is kept on disk: captured outputs of runs, and how they are removed again."""
