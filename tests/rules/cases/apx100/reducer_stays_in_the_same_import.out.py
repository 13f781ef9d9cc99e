from apex.parallel import Reducer
from torch.nn.parallel import DistributedDataParallel

model = DistributedDataParallel(model, broadcast_buffers=False)
reducer = Reducer(head)
