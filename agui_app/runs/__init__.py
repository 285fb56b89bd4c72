"""What happens: runs are started, followed through to their end, cancelled and recovered here.

Enter by `service.Runs`. The pipeline takes what an agent yields, carries out its tool calls, logs, stores and
only then shows. This package owns every task of a run; it knows nothing of HTTP or of the page.
"""
