import importlib.util

_apex = importlib.util.find_spec("apex") is not None


def is_apex_available():
    return _apex
