# expect: info this only tells whether Apex is there
try:
    from apex import amp
    HAS_APEX = True
except ImportError:
    HAS_APEX = False


def supported():
    return HAS_APEX
