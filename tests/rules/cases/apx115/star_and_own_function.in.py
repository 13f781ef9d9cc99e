# expect: review BN_convert_float is written out here
from apex.fp16_utils import *


def to_python_float(t):
    return float(t)


model = BN_convert_float(model.half())
print(to_python_float(loss))
