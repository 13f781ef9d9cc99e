# expect: review only asks whether Apex is there
try:
    import apex

    print("apex is there")
except ImportError:
    print("no apex")


def version():
    try:
        import apex

        return getattr(apex, "__version__", "unknown")
    except ImportError:
        return None
