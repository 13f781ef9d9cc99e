# expect: review this class is handed on
from apex.optimizers import FusedAdam
from framework import Learner

learner = Learner(data, model, opt_func=FusedAdam)
