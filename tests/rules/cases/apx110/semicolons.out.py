import torch; import os
optimizer = torch.optim.AdamW(model.parameters(), lr=float(os.environ["LR"]), weight_decay=0.0, fused=True); optimizer.zero_grad()
