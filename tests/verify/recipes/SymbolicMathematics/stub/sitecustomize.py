"""The repository is of a time when Python had `inspect.getargspec`."""

import collections
import inspect

_Spec = collections.namedtuple("_Spec", "args varargs keywords defaults")
inspect.getargspec = lambda function: _Spec(*inspect.getfullargspec(function)[:4])
