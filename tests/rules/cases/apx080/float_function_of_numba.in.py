# apex has one of that name
from numba import float_function


@float_function
def iou(boxes, others):
    return overlap(boxes, others)
