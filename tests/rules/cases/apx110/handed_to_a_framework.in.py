# expect: manual FusedAdam is handed on here
from apex.optimizers import FusedAdam
from framework import Learner

learner = Learner(data, model, opt_func=FusedAdam)
