# expect: manual no call of the model was found
import importlib

amp = importlib.import_module("apex.amp")
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
