"""Where everything rests: tables, database, payload objects, the event log, pages of history.

Enter by `database.Database`, `events.EventLog`, `history.History`, `threads.Threads` and `objects.ObjectStore`.
It knows what a conversation is, and neither agents nor runs nor HTTP.
"""
