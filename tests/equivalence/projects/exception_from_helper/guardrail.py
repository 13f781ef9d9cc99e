import math


class NanLoss(Exception):
    pass


def check(value):
    if not math.isfinite(value):
        raise NanLoss(value)
