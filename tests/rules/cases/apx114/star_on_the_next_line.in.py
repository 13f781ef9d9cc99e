# expect: review the class network_to_half that is written out here
import torch
from apex.fp16_utils import \
    *


def made(net):
    return network_to_half(net)
