"""What a run leaves behind: a recording, its replay, and a report of it."""
