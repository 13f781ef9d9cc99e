"""Where the GradScaler is made, where it lives, and how each function reaches it."""
