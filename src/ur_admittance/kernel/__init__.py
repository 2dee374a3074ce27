"""The tick. One file a step; imports nothing but NumPy, Numba, math and its siblings."""
