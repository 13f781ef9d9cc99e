def is_apex_available():
    try:
        from apex import amp
        _has_apex = True
    except ImportError:
        _has_apex = False
    return _has_apex
