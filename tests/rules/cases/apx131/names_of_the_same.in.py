# expect: review multi_tensor_scale is written out here
import amp_C
import torch
from apex.multi_tensor_apply import multi_tensor_applier

multi_tensor_scale = amp_C.multi_tensor_scale


def copy(these, those, flag):
    multi_tensor_applier(multi_tensor_scale, flag, [these, those], 1.0)
