# expect: manual amp_C.multi_tensor_novograd has no counterpart
# expect: manual amp_C is needed here for multi_tensor_novograd all the same
import amp_C  # from apex

norm, _ = amp_C.multi_tensor_l2norm(65536, flag, [grads], False)
amp_C.multi_tensor_novograd(65536, flag, lists, norm, 1e-3)
