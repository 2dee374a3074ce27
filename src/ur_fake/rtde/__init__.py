"""Port 30004: Real-Time Data Exchange, protocol versions 1 and 2."""
