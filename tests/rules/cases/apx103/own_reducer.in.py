from .distributed import Reducer

reducer = Reducer(model)
reducer.reduce()
