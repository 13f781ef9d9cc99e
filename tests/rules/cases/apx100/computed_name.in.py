# expect: manual apex.parallel has no counterpart
import apex

wrapper = getattr(apex.parallel, args.wrapper)
model = wrapper(model)
