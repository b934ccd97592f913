"""Multi-step calls with constraints: walks along golden paths, and the verdicts on them.

Named after ComplexEval, the evaluation of ComplexFuncBench (Zhong et al. 2025, arXiv:2501.10132). A walk (one
for each profile) is a generator without I/O: it yields texts for the model and requests to other parties,
and returns the outcome. The conversation is a walk with messages around it; the verdict is the same walk once
more over the recorded answers.
"""
