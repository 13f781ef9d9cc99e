from colossalai.nn.optimizer import FusedAdam, HybridAdam

optimizer = (HybridAdam if args.offload else FusedAdam)(model.parameters(), lr=1e-3)
