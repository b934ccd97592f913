"""The parts that the YAML formats of entries share: fields, rows, function docs, questions, checks."""
