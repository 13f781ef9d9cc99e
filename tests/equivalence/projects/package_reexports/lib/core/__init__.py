from .api import fit
