def pad_center(window, size):
    assert len(window) == size
    return window


def tiny(value):
    return 1e-30


def normalize(value, norm=None):
    return value
