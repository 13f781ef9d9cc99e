# rule: APX010
import torch
from apex import amp

print(torch.__version__)
