# expect: manual apex.multi_tensor_apply.multi_tensor_applier has no counterp
from apex.multi_tensor_apply import multi_tensor_applier

multi_tensor_applier(op, flag, lists, 1.0)
