"""The form of a conversation at each API: its messages, tools, answers and replies."""
