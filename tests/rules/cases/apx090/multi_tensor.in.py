# expect: info apex.multi_tensor_apply still exists
from apex.multi_tensor_apply import multi_tensor_applier

multi_tensor_applier(op, flag, lists, 1.0)
