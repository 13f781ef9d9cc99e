# expect: safe
# shape: amp.init(enabled=..., verbose=...) for inference only, the handle is never used again
# argv: --dtype float16
# argv: --dtype float32

import argparse
import torch
import torch.nn as nn

# Check if we can enable mixed-precision via apex.amp
try:
    from apex import amp
except ImportError:
    raise ImportError('Use APEX for mixed precision via apex.amp')


def inference(model, loader):
    model.eval()
    for i, x in enumerate(loader):
        with torch.no_grad():
            out = model(x.cuda())
            print(i, out.argmax(1).tolist(), "%.6f" % out.float().sum().item())


def main():
    parser = argparse.ArgumentParser(description="PyTorch Object Detection Inference")
    parser.add_argument("--dtype", default="float32", choices=["float16", "float32"])
    args = parser.parse_args()
    torch.manual_seed(109)
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 5)).cuda()
    # Initialize mixed-precision if necessary
    use_mixed_precision = args.dtype == 'float16'
    amp_handle = amp.init(enabled=use_mixed_precision, verbose=False)
    inference(model, [torch.randn(3, 4) for _ in range(3)])


if __name__ == "__main__":
    main()
