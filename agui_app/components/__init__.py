"""The page's shape: functions from vars to elements.

`shell.py` is the frame, `rows.py` draws one item, `registry.py` maps card types to cards. Row components take vars and
know no state but the reader's language.
"""
