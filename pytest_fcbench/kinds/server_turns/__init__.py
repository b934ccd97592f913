"""Calls that an MCP server carries out, turn by turn."""
