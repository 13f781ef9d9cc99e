from .scheduler import Scheduler


class StepLRScheduler(Scheduler):
    pass
