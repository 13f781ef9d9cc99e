"""A stand-in that keeps nothing."""


def init(*args, **kwargs):
    pass


log = watch = save = init
