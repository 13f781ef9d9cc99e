# expect: review BN_convert_float is written out here
from apex.fp16_utils import BN_convert_float

model = BN_convert_float(model.half())
