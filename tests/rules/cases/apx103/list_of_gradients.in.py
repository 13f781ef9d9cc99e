# expect: review torch has no counterpart
import torch
from apex.parallel import Reducer

reducer = Reducer([p.grad for p in model.parameters()])
reducer.reduce()
