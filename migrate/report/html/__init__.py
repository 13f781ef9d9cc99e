"""``--format html``: one file to work through a migration with, in a browser and without a network."""
