"""Drawings of who feeds whom: pure, and the same for the same input."""
