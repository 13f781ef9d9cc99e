# rule: APX090
# expect: manual apex.parallel.Reducer has no counterpart in torch
import apex

reducer = apex.parallel.Reducer(model)
reducer.reduce()
