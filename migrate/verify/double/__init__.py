"""What ``import apex`` finds where there is no Apex: see apex/__init__.py. This folder is put on the path."""
