import os
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

try:
    from apex import amp
    HAS_APEX = True
except:
    HAS_APEX = False


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)
