"""Where the desired pose goes: straight, along a taught path, along a plan."""
