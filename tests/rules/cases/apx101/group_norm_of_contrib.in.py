# expect: manual apex.contrib.group_norm.GroupNorm has no counterpart
from apex.contrib.group_norm import GroupNorm

norm = GroupNorm(32, 64)
