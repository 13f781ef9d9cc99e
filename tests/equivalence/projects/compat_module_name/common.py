try:
    from apex import amp
except Exception:
    amp = None

has_apex = amp is not None
