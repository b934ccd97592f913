"""Function docs made from what a team has already: Python code, an OpenAPI file, a list of OpenAI tools."""
