"""What a desired pose may be: bounds that those above the tick, compiled or not, have in common."""

FARTHEST = 100.0  # m, m/s, rad/s: what a desired pose may ask for at all
NEARLY = 1e-3  # how far a rotation, quaternion or axis may be from exact and still be put right
