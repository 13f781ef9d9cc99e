"""Both programs program by program: they share one oracle, run to what both have to do, and are compared there."""
