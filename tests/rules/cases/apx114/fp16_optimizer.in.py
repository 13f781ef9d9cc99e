# expect: review the class that is written out here keeps float32 copies of h
# expect: review torch has no counterpart: the class network_to_half that is 
from apex.fp16_utils import FP16_Optimizer, network_to_half

model = network_to_half(model.cuda())
optimizer = FP16_Optimizer(optimizer, dynamic_loss_scale=True)
for x, y in loader:
    optimizer.zero_grad()
    optimizer.backward(criterion(model(x), y))
    optimizer.step()
