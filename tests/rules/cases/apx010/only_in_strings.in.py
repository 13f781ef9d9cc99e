HELP = """Install apex:
    from apex import amp
    model, optimizer = amp.initialize(model, optimizer)
"""
print("apex.amp.scale_loss", HELP)
