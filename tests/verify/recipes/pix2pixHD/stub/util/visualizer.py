"""Stands in for one that draws pages."""


class Visualizer:
    def __init__(self, options):
        self.options = options

    def print_current_errors(self, epoch, at, errors, seconds):
        print(epoch, at, errors)

    def plot_current_errors(self, errors, steps):
        pass

    def display_current_results(self, pictures, epoch, step):
        pass
