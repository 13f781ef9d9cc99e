# expect: manual multi_tensor_lamb needs a build of Apex all the same
import amp_C
import torch
from apex.multi_tensor_apply import multi_tensor_applier

multi_tensor_applier(amp_C.multi_tensor_lamb, flag, lists, 1e-3)
