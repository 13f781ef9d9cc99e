# expect: manual apex.parallel.Reducer has no counterpart in torch
from apex.parallel import DistributedDataParallel, Reducer

model = DistributedDataParallel(model)
reducer = Reducer(head)
