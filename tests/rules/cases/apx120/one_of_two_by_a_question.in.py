if args.fused and ask("really?"):
    from apex.normalization import FusedLayerNorm as LayerNorm
else:
    from torch.nn import LayerNorm

norm = LayerNorm(8, eps=1e-6)
