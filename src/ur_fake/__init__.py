"""A UR controller for tests: its interfaces, its URScript and its states, on the simulated arm.

`Machine` is the controller without a socket: whoever calls `step()` is its clock.
"""
