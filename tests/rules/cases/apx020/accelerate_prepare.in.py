from accelerate import Accelerator

accelerator = Accelerator(mixed_precision="fp16")  # was: apex
model, optimizer = accelerator.prepare(model, optimizer)
for x, y in loader:
    accelerator.backward(criterion(model(x), y))
    optimizer.step()
