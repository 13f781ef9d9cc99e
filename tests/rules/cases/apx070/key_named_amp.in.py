# "amp" is what apex checkpoints call it
checkpoint = torch.load("last.pt")
checkpoint.pop("amp", None)
scaler.load_state_dict(checkpoint["scaler"])
