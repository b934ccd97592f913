"""Child processes in which stateless calls are carried out."""
