import torch

parser.add_argument("--fp16", action="store_true", help="mixed precision (through NVIDIA apex)")
scaler = torch.amp.GradScaler("cuda", enabled=args.fp16)
