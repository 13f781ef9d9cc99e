# expect: manual allreduce
from apex.parallel import DistributedDataParallel as DDP

model = DDP(model)
for step, batch in enumerate(loader):
    if step % 4:
        model.disable_allreduce()
    else:
        model.enable_allreduce()
    model(batch).mean().backward()
