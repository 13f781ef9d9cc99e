# expect: review this asks for Apex
from catalyst import dl
from catalyst.engines import APEXEngine

dl.SupervisedRunner().train(model=model, fp16=dict(apex=True, opt_level="O1"))
dl.SupervisedRunner().train(model=model, engine=APEXEngine("cuda:1"))
