# expect: review multi_tensor_applier is written out here
from apex.multi_tensor_apply import multi_tensor_applier

multi_tensor_applier(op, flag, lists, 1.0)
