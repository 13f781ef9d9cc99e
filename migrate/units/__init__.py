"""What is known of a unit before anything is decided about it: readings only; `migrate.plan` decides."""
