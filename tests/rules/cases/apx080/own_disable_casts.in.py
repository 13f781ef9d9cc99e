# named like the one of apex.amp
from mytools import disable_casts, half_function


@half_function
def f(x):
    with disable_casts():
        return x
