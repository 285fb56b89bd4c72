"""The page's memory: small, flat Reflex states.

They hold plain rows and call `client.py`; no rule of the domain is in them. Rows come from `rows.py`, which reads
the conversation's items. They must not know storage, runs or agents.
"""
