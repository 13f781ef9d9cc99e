from . import parallel
from .parallel import DistributedDataParallel

model = parallel.DistributedDataParallel(DistributedDataParallel(model))
