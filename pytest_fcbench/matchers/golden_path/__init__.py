"""Multi-step calls with constraints: how such an entry is put to a model and judged.

Named after ComplexEval, the evaluation of ComplexFuncBench (Zhong et al. 2025, arXiv:2501.10132). A walk (one
for each profile) is a generator without I/O: it yields what is shown to the model and what is asked of
others, and returns the outcome. The conversation is a walk with messages around it; the verdict is the same
walk once more over what was answered.
"""
