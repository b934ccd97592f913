"""Matchers: pure functions from an entry and its transcript to a judgement."""
