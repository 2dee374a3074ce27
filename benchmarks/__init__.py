"""Side-by-side timings of the tick: ours, plain C++, C++ with Eigen and KDL, NumPy with Pinocchio."""
