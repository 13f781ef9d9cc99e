from mylib.apex.parallel import DistributedDataParallel
from .apex import parallel

model = parallel.wrap(DistributedDataParallel(model, delay_allreduce=True))
