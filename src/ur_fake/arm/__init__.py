"""The arm of the fake controller: simulated, told where to go, and read; all in its own frame."""
