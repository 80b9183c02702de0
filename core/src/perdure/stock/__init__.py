"""What engines may reuse: ledger, tool kinds, entry shrinking, extractive digest, checks."""
