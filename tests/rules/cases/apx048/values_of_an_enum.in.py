# expect: review chooses the native side beside it now
# expect: review a checkpoint written by the legacy code
import contextlib
import enum

import torch

try:
    import apex

    apex_available = True
except ImportError:
    apex_available = False


class AmpType(enum.Enum):
    APEX = enum.auto()
    PYTORCH = enum.auto()


class Task:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.amp_args, self.amp_type, self.scaler = None, None, None

    def set_amp_args(self, amp_args):
        self.amp_args = amp_args
        if amp_args is None:
            print("AMP disabled")
        else:
            try:
                self.amp_type = AmpType[amp_args["amp_type"].upper()]
            except KeyError:
                print("AMP type not specified")
                self.amp_type = AmpType.APEX

            # Check for Apex availability
            if self.amp_type == AmpType.APEX and not apex_available:
                raise RuntimeError("Apex is not installed, cannot enable AMP")

            if self.amp_type == AmpType.APEX:
                self._init_apex()
            elif self.amp_type == AmpType.PYTORCH:
                self._init_native()
        return self

    def _init_apex(self):
        # what amp.initialize is handed
        self.model, self.optimizer = apex.amp.initialize(self.model, self.optimizer, opt_level="O1")
        print("Setting AMP: apex")

    def _init_native(self):
        self.scaler = torch.amp.GradScaler("cuda")
        print("Setting AMP: pytorch")

    def state(self):
        state = {"model": self.model.state_dict()}
        if self.amp_type == AmpType.APEX:
            state["amp"] = apex.amp.state_dict()
        elif self.scaler is not None:
            state["amp"] = self.scaler.state_dict()
        return state

    def load(self, state):
        if "amp" in state:
            if self.amp_type == AmpType.APEX:
                apex.amp.load_state_dict(state["amp"])
            else:
                self.scaler.load_state_dict(state["amp"])

    def step(self, images, labels, period, index):
        context = (
            torch.autocast("cuda", dtype=torch.float16)
            if self.amp_type == AmpType.PYTORCH
            else contextlib.suppress()
        )
        with context:
            loss = torch.nn.functional.cross_entropy(self.model(images), labels)
        if self.amp_type == AmpType.APEX:
            with apex.amp.scale_loss(loss, self.optimizer) as scaled_loss:
                scaled_loss.backward()
        elif self.amp_type == AmpType.PYTORCH:
            self.scaler.scale(loss).backward()
        else:
            loss.backward()
        if self.amp_type == AmpType.PYTORCH:
            self.scaler.step(self.optimizer)
            self.scaler.update()
        else:
            self.optimizer.step()
        self.optimizer.zero_grad()
