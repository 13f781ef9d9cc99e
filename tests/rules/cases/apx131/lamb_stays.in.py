# expect: manual multi_tensor_lamb is called by it
# expect: info amp_C stays imported
import amp_C
import torch
from apex.multi_tensor_apply import multi_tensor_applier

multi_tensor_applier(amp_C.multi_tensor_lamb, flag, lists, 1e-3)
