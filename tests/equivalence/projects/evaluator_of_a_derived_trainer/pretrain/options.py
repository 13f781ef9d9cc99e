import argparse


def parse(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument('--fp16', action='store_true')
    p.add_argument('--fp16_opt_level', type=str, default='O1')
    p.add_argument('--accumulate_gradients', type=int, default=2)
    p.add_argument('--clip_grad_norm', type=float, default=0.5)
    p.add_argument('--save_every', type=int, default=100)
    p.add_argument('--lambda_mlm', type=float, default=1)
    p.add_argument('--steps', type=int, default=10)
    return p.parse_args(argv)
