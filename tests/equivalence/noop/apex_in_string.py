import argparse

parser = argparse.ArgumentParser()
parser.add_argument("--fp16", action="store_true",
                    help="Whether to use 16-bit (mixed) precision (through NVIDIA apex) instead of 32-bit")
parser.add_argument("--fp16_opt_level", type=str, default="O1",
                    help="For fp16: Apex AMP optimization level selected in ['O0', 'O1', 'O2', and 'O3']."
                         "See details at https://nvidia.github.io/apex/amp.html")
SNIPPET = """
from apex import amp
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
"""
print(parser.parse_args([]).fp16, len(SNIPPET))
