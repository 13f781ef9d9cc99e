from deepspeed.runtime.fp16.fused_optimizer import FP16_Optimizer

optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
optimizer.backward(loss)
