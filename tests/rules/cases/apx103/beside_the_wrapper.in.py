# expect: review torch has no counterpart
from apex.parallel import DistributedDataParallel, Reducer

model = DistributedDataParallel(model, delay_allreduce=True)
reducer = Reducer(head)
