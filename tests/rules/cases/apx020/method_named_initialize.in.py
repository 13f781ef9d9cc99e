class Apex:
    def initialize(self, model, optimizer, opt_level):
        return model, optimizer


apex = Apex()
model, optimizer = apex.initialize(model, optimizer, opt_level="O1")
