# expect: review prep_param_lists is written out here
from apex.fp16_utils import *

model_params, master_params = prep_param_lists(model)
