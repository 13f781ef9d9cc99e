def _module_available(name):
    import importlib.util
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


APEX_AVAILABLE = _module_available("apex")
