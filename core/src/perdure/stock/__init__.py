"""What engines may reuse: the ledger, entry shrinking, tool kinds, the extractive digest and checks."""
