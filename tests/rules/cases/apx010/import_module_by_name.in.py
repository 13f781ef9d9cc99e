import importlib

amp = importlib.import_module("apex.amp")
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
