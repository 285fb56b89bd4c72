"""What is said: events, their wire form, frames, ids and cards. Pure: no await, no I/O.

Enter at `events.read_event` and `events.write_event`; `normalise.Normaliser` reads what an agent streams.
Must not know what events mean (that is `conversation`) nor who sends them.
"""
