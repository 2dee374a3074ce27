"""Thousands of closed loops in one call: the tick beside a simple arm and a simple surface."""

from ur_admittance.rollout.rollout import LaggedArm, Noise, Rollout, Strip, Surface, rollout

__all__ = ["LaggedArm", "Noise", "Rollout", "Strip", "Surface", "rollout"]
