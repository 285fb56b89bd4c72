"""Who answers: agents, each a function from the conversation so far to the events of one round.

Enter at `base.Agent` (what an agent is) and `build.build_agent` (the one that the settings name). Must not know
who runs it, logs it or shows it.
"""
