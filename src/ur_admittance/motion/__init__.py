"""Where the desired pose goes: to an equilibrium, along a taught path, along a planned one."""
