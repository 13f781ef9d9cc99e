import functools
import time

STATS = {}


def timed(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        start = time.time()
        result = function(*args, **kwargs)
        STATS[function.__name__] = time.time() - start
        return result
    return inner
