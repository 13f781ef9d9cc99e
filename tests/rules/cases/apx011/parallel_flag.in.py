# expect: review apex.parallel.DistributedDataParallel is imported and not us
try:
    from apex.parallel import DistributedDataParallel as DDP
    HAS_APEX = True
except ImportError:
    from torch.nn.parallel import DistributedDataParallel as DDP
    HAS_APEX = False
if not HAS_APEX:
    print("using the DDP of torch")
