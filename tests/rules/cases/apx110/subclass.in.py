# expect: manual FusedAdam is handed on here
from apex.optimizers import FusedAdam


class Adam(FusedAdam):
    def step(self, closure=None):
        self.steps += 1
        return super().step(closure)
