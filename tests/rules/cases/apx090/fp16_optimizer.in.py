# expect: manual apex.fp16_utils.FP16_Optimizer has no counterpart in torch t
# expect: manual apex.fp16_utils.network_to_half has no counterpart in torch 
from apex.fp16_utils import FP16_Optimizer, network_to_half

model = network_to_half(model.cuda())
optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
for x, y in loader:
    optimizer.zero_grad()
    optimizer.backward(criterion(model(x), y))
    optimizer.step()
