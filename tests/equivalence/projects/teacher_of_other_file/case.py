# expect: safe

import torch

from apex import amp

from loops import distil, feature_bank
from nets import Student, Teacher, make_projector


def main():
    torch.manual_seed(0)
    teacher, student, project = Teacher(), Student(), make_projector()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9)
    student, optimizer = amp.initialize(student, optimizer, opt_level="O1")
    data = [(torch.randn(6, 8), torch.randint(0, 4, (6,))) for _ in range(3)]
    bank = feature_bank(teacher, data)
    out = [distil(data, teacher, student, optimizer, bank) for _ in range(2)]
    return out, list(student.parameters()), bank


if __name__ == "__main__":
    print(main())
