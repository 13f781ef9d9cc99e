# the module is called apex here, but it is a file beside this one loaded by path
import importlib.util
import sys


def load(path):
    spec = importlib.util.spec_from_file_location("my_apex", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["my_apex"] = module
    spec.loader.exec_module(module)
    return module


def run(path, model, optimizer):
    apex = load(path)
    amp = apex.amp
    return amp.initialize(model, optimizer)
