"""Codecs: functions to requests, answers to calls."""
