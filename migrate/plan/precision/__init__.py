"""What runs in another type than under Apex's casts, and who would notice."""
