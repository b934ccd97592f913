"""Function-calling benchmarks as an ordinary pytest suite.

Nothing is imported here on purpose: pytest loads this package in every run where it is installed.
"""
