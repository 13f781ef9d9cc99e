"""What becomes of a unit: decisions, made from the readings in `migrate.units`."""
