"""Diagnosis of failed conversations: by their calls, by a judge, and the agreement of judges."""
