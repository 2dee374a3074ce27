"""What must be known before an arm can give way: where it rests, what it feels untouched."""
