# expect: manual batch norm in channels-last shape has no counterpart
import apex

model = apex.parallel.convert_syncbn_model(model, channel_last=True)
