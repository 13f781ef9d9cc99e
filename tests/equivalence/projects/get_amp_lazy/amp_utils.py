def get_amp(use_fp16):
    if not use_fp16:
        return None
    from apex import amp
    return amp
