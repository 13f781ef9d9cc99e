"""What surrounds the Python code: what installs Apex, sets its options on command lines, or speaks of it."""
