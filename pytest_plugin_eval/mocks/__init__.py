"""Stand-ins for the MCP servers of a plugin, served to the agent by the session itself."""
