# settings: target_torch=1.13
# expect: manual torch has functions of many tensors only from 2.0 on
import amp_C  # from apex

amp_C.multi_tensor_scale(65536, flag, [these, those], 1.0)
