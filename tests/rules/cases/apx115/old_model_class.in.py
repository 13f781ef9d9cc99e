# expect: manual apex.fp16_utils.FP16Model has no counterpart
# rule: APX090
from apex.fp16_utils import FP16Model

model = FP16Model(model)
