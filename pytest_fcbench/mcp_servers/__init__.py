"""MCP servers: started, asked for their tools, called and ended, through the official SDK.

``open_server`` is the only place that imports the SDK, and does so when it is first called.
"""
