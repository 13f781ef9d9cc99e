import torch
try:
    import apex_extra
    HAS_APEX = True
except ImportError:
    HAS_APEX = False
if not HAS_APEX:
    raise ImportError("please install apex_extra")
