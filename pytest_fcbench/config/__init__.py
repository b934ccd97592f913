"""Options, the layers they are given in, and the frozen settings of a run."""
