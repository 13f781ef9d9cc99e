# settings: safe_only=true
# expect: review held back by --safe-only
from apex.normalization import FusedRMSNorm

norms = {"rms": FusedRMSNorm}
