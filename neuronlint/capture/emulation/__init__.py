"""A device named `neuron` that computes on the CPU, and counts what a chip would have to do."""
