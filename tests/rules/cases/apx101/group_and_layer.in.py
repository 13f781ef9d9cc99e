import apex
import torch

group = apex.parallel.create_syncbn_process_group(args.group)
norm = apex.parallel.SyncBatchNorm(8, process_group=group)
