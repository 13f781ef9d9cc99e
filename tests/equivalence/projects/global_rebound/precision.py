amp = None
ENABLED = False


def enable():
    global amp, ENABLED
    try:
        from apex import amp as _amp
        amp = _amp
        ENABLED = True
    except ImportError:
        ENABLED = False
    return ENABLED
