"""The parts of Apex beside amp (parallel, optimizers, normalization, contrib, …), each use for itself.

They need no training unit: a class or function has a counterpart in torch or has none, whatever stands around it.
So they are looked at once amp is settled, file by file, in the text that was made of it (`second.py`).
"""
