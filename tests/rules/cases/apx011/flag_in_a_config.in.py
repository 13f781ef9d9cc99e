# expect: info only asks whether Apex is there
config = {"apex": True, "opt_level": "O1"}
if config["apex"] and not has_module("apex"):
    raise ImportError("Please install apex")
