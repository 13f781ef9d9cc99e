"""What has to hold before a unit is decided."""
