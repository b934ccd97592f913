"""Asking a model what rules cannot decide: questions with strict answers, and how far two judges agree."""
