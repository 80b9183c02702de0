"""Perdure keeps long-running LLM agents from forgetting."""
