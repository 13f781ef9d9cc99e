from timm.optim import create_optimizer_v2

optimizer = create_optimizer_v2(model, opt="fusedadamw", lr=1e-3)
