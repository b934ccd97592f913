"""The tool parsers of inference engines, examined in this process: right calls must come back as they are.

``truths`` takes right calls from entries and compares what comes back, ``native_syntaxes`` writes them
as a model would; ``examining`` cuts the text as a stream does; ``engine`` hands it to a parser;
``matrix`` does so for every way, and ``shrinking`` looks for the smallest text that fails.
"""
