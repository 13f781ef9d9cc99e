import bitsandbytes as bnb
from bitsandbytes.optim import Adam8bit as FusedAdam

optimizer = FusedAdam(model.parameters(), lr=1e-3) if args.small else bnb.optim.AdamW8bit(model.parameters())
