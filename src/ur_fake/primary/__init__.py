"""Ports 30001 to 30003: what the controller tells of itself, and where it takes scripts."""
