"""Make entries of logs, of training data and of stored answers.

``log_forms`` reads a line as conversations, ``next_steps`` splits them at each answer of the assistant,
``entry_rows`` writes an entry of each, ``personal_data`` masks what belongs to people, ``near_duplicates``
finds what was asked before, and ``importing_log`` does all of it line by line, with memory for a few numbers
of each entry. ``answered_entries`` writes the line of an entry that a model has answered.
"""
