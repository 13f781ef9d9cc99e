"""What runs inside the user's own processes. This folder is put on their PYTHONPATH; nothing here imports apex2native.

It runs on the user's Python and torch: Python 3.8 and torch 2.0 are the oldest.
"""
