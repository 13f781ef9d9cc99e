"""An independent judge of one migration: both programs, side by side, on every path.

The planner finds a rewrite, the judge decides whether it may be called *safe* (translation validation:
Pnueli, Siegel, Singerman 1998). The two share the syntax tree and the points-to values, nothing else.

`program` says what of a text has a part in training, `run` runs it, `compare` goes through both; `judge.py` is the
door.
"""
