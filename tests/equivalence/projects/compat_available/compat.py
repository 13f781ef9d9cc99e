import importlib

try:
    from apex import amp
    from apex.parallel import DistributedDataParallel as ApexDDP
    APEX_AVAILABLE = True
except ImportError:
    amp = None
    APEX_AVAILABLE = False
