# expect: review: the level is decided at run time, optimizers share a loss
# shape: an evaluator holds the trainer, of a class whose base makes the optimizers

import torch
from pretrain.options import parse
from pretrain.run import run


def main():
    return run(parse(['--fp16', '--fp16_opt_level', 'O1', '--save_every', '3']))


if __name__ == '__main__':
    main()
