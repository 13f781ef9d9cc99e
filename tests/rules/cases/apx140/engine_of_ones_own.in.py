from engines import apex
from engines import APEXEngine

engine = APEXEngine(opt_level="O1")
