from .apex import amp

model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
