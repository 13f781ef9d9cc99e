try:
    from apex import amp as _amp
except ImportError:
    _amp = None

mixed_precision = _amp
