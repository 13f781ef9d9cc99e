"""The double's ``apex.contrib``: what legacy training loops take from it. Layers of attention are not doubled."""
