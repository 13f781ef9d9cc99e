# expect: manual
import apex

amp = getattr(apex, "amp")
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
