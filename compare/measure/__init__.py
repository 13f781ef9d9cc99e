"""Measuring one arm in its own process: step times, memory, what the loss scale and the gradients do."""
