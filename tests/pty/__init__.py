"""`teambot` in a real terminal: keys in as bytes, the screen and the raw bytes out."""
