# expect: review this framework was told to train with Apex
# needs apex? no: catalyst takes the step
from catalyst import dl

runner = dl.SupervisedRunner()
runner.train(engine=dl.APEXEngine("cuda:1", opt_level="O1"), model=model)
runner.train(engine=dl.DataParallelAPEXEngine(opt_level="O1"), model=model)
