# settings: keep_fused=True
# expect: info apex.multi_tensor_apply.multi_tensor_applier works with a GradScaler
import torch
from apex.multi_tensor_apply import multi_tensor_applier

multi_tensor_applier(op, flag, lists, 1.0)
