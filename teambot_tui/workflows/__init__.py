"""Workflows kept in files: compose files, the prompts they name and what those include."""
