try:
    from apex import amp
    APEX_AVAILABLE = True
except ImportError:
    amp = None
    APEX_AVAILABLE = False
