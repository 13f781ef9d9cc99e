# rule: APX090
# expect: manual apex.transformer.functional.FusedScaleMaskSoftmax has no counterpart
from apex.transformer.functional import FusedScaleMaskSoftmax

softmax = FusedScaleMaskSoftmax(True, False, mask_type, True, mask_func, True, None)
