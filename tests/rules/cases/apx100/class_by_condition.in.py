# expect: manual what is called here may be DistributedDataParallel or another
# expect: manual what it is called with depends on what else may stand there
import torch.nn as nn
from apex.parallel import DistributedDataParallel as ApexDDP

wrapper = ApexDDP if args.apex else nn.DataParallel
model = wrapper(model)
