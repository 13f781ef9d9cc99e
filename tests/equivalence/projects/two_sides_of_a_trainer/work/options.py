import argparse


def options(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--fp16_backend", default="auto", choices=["auto", "amp", "apex"])
    parser.add_argument("--fp16_opt_level", default="O1")
    parser.add_argument("--max_grad_norm", type=float, default=0.5)
    parser.add_argument("--accumulate", type=int, default=2)
    return parser.parse_args(words)
