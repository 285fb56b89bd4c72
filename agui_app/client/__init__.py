"""HTTP out: a client of the public API over httpx and httpx-sse.

`AguiClient` starts runs, follows threads and reads pages; `AsgiTransport` lets it call an application in its own
process, streams included. It knows the protocol and nothing of the server's inside.
"""

from __future__ import annotations

from agui_app.client.answers import ServerEvent, Unreachable
from agui_app.client.asgi import IN_PROCESS_URL, AsgiTransport
from agui_app.client.client import AguiClient, may_pass

__all__ = ["IN_PROCESS_URL", "AguiClient", "AsgiTransport", "ServerEvent", "Unreachable", "may_pass"]
