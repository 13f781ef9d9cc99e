import nvidia
import vendor.apex

model, optimizer = nvidia.apex.amp.initialize(model, optimizer)
model, optimizer = vendor.apex.amp.initialize(model, optimizer)
