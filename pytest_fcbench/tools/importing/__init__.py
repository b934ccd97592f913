"""Make entries of logs, of training data and of stored answers.

``log_forms`` reads the rows of a file, and a row as conversations (with ``offered_tools`` and
``calls_in_text``), ``next_steps`` splits them at each answer of the assistant and writes an entry of each,
``masks`` replaces what belongs to people, and ``importing_log`` does all of it row by row, finds what was
asked before, and writes the line of an entry that a model has answered.
"""
