"""Classes of Apex that torch has no counterpart for, as they are written out in the files that use them.

Each module is one class; what stands from the class on goes into the user's file, so it is written as users write:
without types, for Python 3.6 and torch 1.6 on.
"""
