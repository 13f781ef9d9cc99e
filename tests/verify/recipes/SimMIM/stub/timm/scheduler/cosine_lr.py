from .scheduler import Scheduler


class CosineLRScheduler(Scheduler):
    pass
