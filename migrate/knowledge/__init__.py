"""What we know of torch, of Apex and of the names people give things: data, and nothing that decides.

What torch and Apex do is held by `tests/knowledge` to what they were seen to do. The naming habits were
gathered from the repositories in docs/corpus.md: a name says what code that is not here will do.
"""
