"""Parts of `fidelity.py`: what is asked, how it is scored, who is measured, what is drawn."""
