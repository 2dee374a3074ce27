"""What this machine makes of the control loop: `ur-admittance bench --loop`."""
