# expect: manual stands in another file
from apex import amp


@amp.float_function
def iou(boxes, others):
    return overlap(boxes, others)
