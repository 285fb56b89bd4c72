"""One file a card type: a function from the card's data to its component.

Data reaches a card only after it passed the type's model in `protocol/cards.py`; everything else is drawn by
`fallback.py`.
"""
