import apex
import torch

model = apex.parallel.DistributedDataParallel(model, message_size=10000000)
