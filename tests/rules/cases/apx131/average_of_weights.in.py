# expect: review multi_tensor_axpby is written out here
import amp_C  # from apex
import torch


def average(decay, weights, averages, flag):
    amp_C.multi_tensor_axpby(65536, flag, [averages, weights, averages], decay, 1 - decay, -1)
