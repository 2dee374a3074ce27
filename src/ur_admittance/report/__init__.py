"""What a recording tells: numbers, plots, a page."""
