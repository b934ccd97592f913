"""One call whose arguments are the parts of an SQL statement."""
