"""What the program can do for an agent: tools over real tables.

Enter at `catalog.TOOLS` (all of them) and `run.carry_out` (one call). A tool is one file and one line in the
catalog. Must not know who asks: neither agents nor runs.
"""
