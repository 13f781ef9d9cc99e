"""Both programs side by side: they share one oracle, run to what both have to do, and are compared there."""
