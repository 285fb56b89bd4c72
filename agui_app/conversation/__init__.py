"""What it means: events folded into a conversation, and a conversation shown as rows. Pure: no await, no I/O.

Live events enter at `reducer.reduce`, history pages at `history.from_page`; both leave at `items.rows`.
Must not know where events come from, where messages rest, or what a row looks like.
"""
