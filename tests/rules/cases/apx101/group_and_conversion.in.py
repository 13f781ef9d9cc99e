# bug: args is undefined twice instead of once
# expect: review Apex's conversion put every batch norm into training mode
import apex
import torch

group = apex.parallel.create_syncbn_process_group(args.group)
model = apex.parallel.convert_syncbn_model(model, process_group=group)
