"""Tests of `ur_admittance.cockpit`."""
