"""Dockerfiles: which RUN goes, and which stays as it does something else."""

from __future__ import annotations

import pytest

from migrate.packaging import docker
from migrate.packaging.mention import About
from migrate.packaging.texts import without

HEAD = "FROM pytorch/pytorch\nRUN apt-get update\n"
TAIL = "COPY . .\n"


def fixed(text: str) -> str:
    return without(text, [one.cut for one in docker.look(text) if one.cut is not None])


@pytest.mark.parametrize(
    "run",
    [
        "RUN pip install git+https://github.com/NVIDIA/apex\n",
        "run pip3 install -v apex\n",
        'RUN pip install --global-option="--cpp_ext" --global-option="--cuda_ext" '
        "git+https://github.com/NVIDIA/apex.git#egg=apex\n",
        "RUN git clone https://github.com/NVIDIA/apex.git \\\n && cd apex \\\n && python setup.py install --cuda_ext\n",
        "RUN git clone --depth 1 https://github.com/NVIDIA/apex /opt/apex && \\\n    cd /opt/apex && \\\n"
        '    pip install -v --no-cache-dir --global-option="--cpp_ext" ./ && \\\n    rm -rf /opt/apex\n',
        "RUN git clone https://github.com/NVIDIA/apex && cd apex && git checkout 22.04-dev && "
        "TORCH_CUDA_ARCH_LIST=7.0 pip install . && cd .. && rm -rf apex\n",
        "RUN git clone https://github.com/somebody/apex.git\nRUN cd apex && \\\n    pip install .\n",
        "# install apex\nRUN pip install apex\n",
        "RUN pip install -f https://example.org/cu${CUDA}/download.html apex\n",
        "RUN conda install -y -c conda-forge nvidia-apex\n",
        "RUN pip uninstall -y apex || true\nRUN pip install git+https://github.com/NVIDIA/apex\n",
        "RUN set -e; git clone https://github.com/NVIDIA/apex; cd apex; \\\n  # kernels\n  python3 setup.py install\n",
        "RUN python -m pip install https://github.com/NVIDIA/apex/archive/8a1ed9e8.zip\n",
    ],
)
def test_a_run_that_only_installs_goes(run: str) -> None:
    assert fixed(HEAD + run + TAIL) == HEAD + TAIL
    crlf = (HEAD + run + TAIL).replace("\n", "\r\n")
    assert fixed(crlf) == (HEAD + TAIL).replace("\n", "\r\n")
    assert fixed(HEAD + run.rstrip("\n")) == HEAD.rstrip("\n")


@pytest.mark.parametrize(
    "run",
    [
        "RUN pip install torch apex\n",
        "RUN pip install -r requirements.txt apex\n",
        "RUN git clone https://github.com/NVIDIA/apex\n",  # somebody installs it later
        "RUN git clone https://github.com/NVIDIA/apex\nWORKDIR /apex\nRUN pip install .\n",
        "RUN git clone https://github.com/NVIDIA/apex && cd apex && pip install . && pip install ninja\n",
        "RUN pip install ninja && pip install git+https://github.com/NVIDIA/apex\n",
        "RUN apt-get install -y git && \\\n    pip install git+https://github.com/NVIDIA/apex\n",
        "RUN pip install git+https://github.com/NVIDIA/apex && pip install tqdm\n",
        "RUN pip install git+https://github.com/NVIDIA/apex\nRUN cp x.py /usr/lib/python3/dist-packages/apex/\n",
        "RUN git clone https://github.com/NVIDIA/apex && cd apex && pip wheel . -w /wheels\n",
        "RUN git clone https://github.com/NVIDIA/apex && cd apex && sed -i s/a/b/ setup.py && pip install .\n",
        "RUN git clone https://github.com/NVIDIA/apex && (cd apex && pip install .)\n",
        'RUN [ -z "$X" ] || pip install git+https://github.com/NVIDIA/apex\n',
        'RUN ["pip", "install", "apex"]\n',
        "RUN <<EOF\npip install apex\nEOF\n",
        "RUN --mount=type=cache,target=/root/.cache pip install apex\n",
        "COPY --from=builder /tmp/apex /tmp/apex\nRUN pip install /tmp/apex\n",
        "ADD apex /apex/\nWORKDIR /apex/\nRUN pip install -v .\n",
        "#RUN git clone https://github.com/NVIDIA/apex \\\n# && cd apex \\\n# && pip install .\n",
        'RUN echo "Installing Apex"\n',
        "RUN pip install apexcharts\n",
        "RUN git clone https://github.com/somebody/apex-tools && cd apex-tools && pip install .\n",
        "RUN git clone https://github.com/NVIDIA/cutlass && cd cutlass && pip install .\n",
        "RUN pip install apex > /log\n",
        "RUN if [ $A ]; then pip install apex; fi\n",
        "ONBUILD RUN pip install apex\n",
        "RUN pip install apex \\\n",
    ],
)
def test_what_does_more_stays(run: str) -> None:
    assert fixed(HEAD + run) == HEAD + run
    assert fixed(HEAD + run + TAIL) == HEAD + run + TAIL


def test_what_stays_is_told() -> None:
    found = docker.look(HEAD + "RUN git clone https://github.com/NVIDIA/apex && cd apex && make\n")
    assert [(one.about, one.line, one.sure, one.cut) for one in found] == [(About.INSTALLS, 3, True, None)]


def test_blank_lines_around_a_run_become_one() -> None:
    assert fixed("FROM a\n\n# Install Apex\nRUN pip install apex\n\nCOPY . .\n") == "FROM a\n\nCOPY . .\n"
