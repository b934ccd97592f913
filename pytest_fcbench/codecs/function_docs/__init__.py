"""Function docs from sources that a team has: Python code, an OpenAPI file, a list of OpenAI tools."""
