from registry import TRAINERS
import base_trainer
import adv_trainer


def build_trainer(opts):
    return TRAINERS.get(opts["trainer"])(opts)
