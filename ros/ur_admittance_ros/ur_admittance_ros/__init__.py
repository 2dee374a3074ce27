"""What `ros2 run ur_admittance_ros ...` starts; the nodes live in the package `ur_admittance`."""
