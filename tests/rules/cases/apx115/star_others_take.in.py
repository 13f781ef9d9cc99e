# exported: prep_param_lists
# expect: manual names that a star brings in from Apex are not followed
# rule: APX090
from apex.fp16_utils import *

model_params, master_params = prep_param_lists(model)
