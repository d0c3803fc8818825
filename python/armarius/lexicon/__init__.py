"""Every word file of the package, and nothing else."""
