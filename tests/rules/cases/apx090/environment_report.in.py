# expect: info only reports whether Apex is there
import sys


def collect_env():
    info = {"python": sys.version}
    try:
        from apex import amp  # noqa: F401

        info["apex"] = "installed"
    except ImportError:
        info["apex"] = "not installed"
    return info
