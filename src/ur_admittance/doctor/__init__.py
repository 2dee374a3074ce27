"""What is wrong before anything moves: host, robot, sensor and configuration."""
