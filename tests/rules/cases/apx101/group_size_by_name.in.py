import torch
import apex

group = apex.parallel.create_syncbn_process_group(group_size=4)
