"""A function inside of another one takes the scaler from around it; an engine that is handed it need not know."""

from __future__ import annotations

from textwrap import dedent

from tests.plan.home.test_homes import planned, shown

TEXT = """
    class Engine:
        def __init__(self, process):
            self.process = process

        def run(self, data):
            for batch in data:
                self.process(batch)


    def trainer_of(model, optimizer):
        def update(x):
            STEP

        return Engine(update)


    def evaluator_of(model):
        def infer(x):
            with torch.no_grad():
                return model(x)

        return Engine(infer)


    def main(loader, fp16):
        model = torch.nn.Linear(4, 2).cuda()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        if fp16:
            INIT
        trainer_of(model, optimizer).run(loader)
        evaluator_of(model).run(loader)
"""


def test_what_makes_the_function_is_handed_the_scaler() -> None:
    assert shown(planned(dedent(TEXT))) == [
        "scaler behind if fp16: if fp16",
        "trainer_of(scaler behind optimizer) from scaler",
        "evaluator_of(scaler behind None) from scaler",
    ]
