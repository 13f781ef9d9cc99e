"""Python imports this when it starts, as the folder lies on PYTHONPATH; the one it would have found runs first."""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_the_other() -> None:
    others = [place for place in sys.path if os.path.abspath(place or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


try:
    _run_the_other()
finally:
    if os.environ.get("APEX2NATIVE_VERIFY"):
        import apex2native_recorder

        apex2native_recorder.start(os.environ["APEX2NATIVE_VERIFY"])
