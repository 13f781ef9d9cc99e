"""Python imports this when it starts, where the folder lies on PYTHONPATH: see `cuda_on_cpu.py`."""

import os

if os.environ.get("CUDA_ON_CPU"):
    import cuda_on_cpu

    cuda_on_cpu.start()
