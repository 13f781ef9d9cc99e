"""``python -m apex2native.migrate``, in a clone ``python -m migrate``: the same as the console script ``apex2native``.

``python -m`` looks for modules in the current folder first, and so does an empty part of PYTHONPATH. In
somebody else's repository that would run its ``json.py`` for the library's, so such places go before
anything else is imported (``__future__`` too is a module).
"""

import gc
import os
import sys

_FOREIGN = """\
apex2native: modules of the current folder would have been imported first, which was prevented: \
better run apex2native or python -P -m apex2native.migrate there, with no empty part in PYTHONPATH."""


def main() -> int:
    try:
        noticed = _leave_out_current_folder()
        from . import cli, memory

        memory.begin()  # before `cli` does for a while, which would look for cycles once more behind that
        if noticed:
            print(_FOREIGN, file=sys.stderr)
        code = cli.main()
        gc.freeze()  # when Python ends it would look for cycles in all that is left, which takes its time
        return code
    except KeyboardInterrupt:  # while modules are imported: later `cli` answers
        print("apex2native: interrupted.", file=sys.stderr)
        return 130


def _leave_out_current_folder() -> bool:
    """Whether the current folder was on the path without being where this package lies."""
    os.environ["PYTHONSAFEPATH"] = "1"  # for the processes that this one starts
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        here = os.getcwd()
    except OSError:
        return False
    if here == os.path.realpath(home):
        return False
    before = len(sys.path)
    sys.path[:] = [place for place in sys.path if place and os.path.realpath(place) != here]
    return len(sys.path) < before


if __name__ == "__main__":
    sys.exit(main())
