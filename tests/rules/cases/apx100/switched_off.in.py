# expect: review its switches for sending gradients are an attribute
# expect: review torch's wrapper reads this attribute in its forward as well
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model)
for step, batch in enumerate(loader):
    if step % 4:
        model.disable_allreduce()
    else:
        model.enable_allreduce()
    model(batch).mean().backward()
