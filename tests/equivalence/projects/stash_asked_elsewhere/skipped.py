def skipped(optimizer):
    stash = getattr(optimizer, "_amp_stash", None)
    return bool(stash is not None and stash.already_patched)
