"""Make entries of logs, of training data and of stored answers.

``log_files`` reads the rows of a file, ``log_forms`` a row as conversations (with ``message_forms``,
``offered_tools`` and ``calls_in_text``), ``next_steps`` splits them at each answer of the assistant,
``entry_rows`` writes an entry of each, ``masks`` replaces what ``personal_data`` finds, ``near_duplicates``
finds what was asked before, and ``importing_log`` does all of it row by row, with memory for a few numbers
of each entry. ``answered_entries`` writes the line of an entry that a model has answered.
"""
