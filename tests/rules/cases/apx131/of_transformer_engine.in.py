from transformer_engine.pytorch.optimizers import multi_tensor_applier, multi_tensor_l2norm

norm, _ = multi_tensor_applier(multi_tensor_l2norm, flag, [grads], False)
