# expect: review torch has no counterpart
import apex

reducer = apex.parallel.Reducer(model)
reducer.reduce()
