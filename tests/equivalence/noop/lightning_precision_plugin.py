# "apex" is only the name of a backend in the configuration of a framework
from dataclasses import dataclass


@dataclass
class TrainerConfig:
    amp_backend: str = "apex"
    amp_level: str = "O1"


def build_trainer(cfg, Trainer):
    if cfg.amp_backend == "apex":
        return Trainer(amp_backend="apex", amp_level=cfg.amp_level, precision=16)
    return Trainer(amp_backend="native", precision=16)
