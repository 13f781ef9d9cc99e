# needs apex? no: catalyst takes the step
from catalyst import dl

runner = dl.SupervisedRunner()
runner.train(engine=dl.AMPEngine("cuda:1"), model=model)
runner.train(engine=dl.DataParallelAMPEngine(), model=model)
