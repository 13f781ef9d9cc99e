"""What a task's process does: one file a kind of task, on what `prepared.py` makes ready."""
