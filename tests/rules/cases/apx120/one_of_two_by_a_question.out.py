if args.fused and ask("really?"):
    from torch.nn import LayerNorm
else:
    from torch.nn import LayerNorm

norm = LayerNorm(8, eps=1e-6)
