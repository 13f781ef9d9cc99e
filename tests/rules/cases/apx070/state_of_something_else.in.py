# apex is long gone
amp = Amplifier()
torch.save({"amp": amp.state_dict()}, "amplifier.pt")
amp.load_state_dict(torch.load("amplifier.pt")["amp"])
