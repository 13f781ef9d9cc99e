from torch.nn.parallel import DistributedDataParallel

student = DistributedDataParallel(student)
