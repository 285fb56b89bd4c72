// Whether the page has its socket. A drop that heals within the grace is nobody's business.
import { useEffect, useState, useSyncExternalStore } from "react";
import { eventLoop } from "$/utils/context-registry";

const LOOK_EVERY_MS = 200;
const PUSH_EVERY_MS = 2000; // the socket tries again by itself, but not after the server has closed it
const GRACE_MS = 2000;

const listeners = new Set();
let up = true;
let pushedAt = 0;

// The socket is not to be had. But events that are marked as temporal are dropped, and give nothing back, while it is
// away; and an empty list of any other events makes it try to connect.
const connected = () => eventLoop.addEvents([], [], { temporal: true }) !== undefined;
const push = () => eventLoop.addEvents([], []);

function look() {
  const now = connected();
  if (!now && Date.now() - pushedAt > PUSH_EVERY_MS) {
    pushedAt = Date.now();
    push();
  }
  if (now === up) return;
  up = now;
  listeners.forEach((listener) => listener());
}

if (typeof window !== "undefined") {
  setInterval(look, LOOK_EVERY_MS);
  window.addEventListener("online", look);
}

export function onConnection(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const isUp = () => up;

// True when the page has had no socket, or the server no stream for it (`cutOff`), for longer than the grace.
export function useConnectionLost(cutOff) {
  const away = !useSyncExternalStore(onConnection, isUp, () => true) || cutOff;
  const [lost, setLost] = useState(false);
  useEffect(() => {
    if (!away) return setLost(false);
    const timer = setTimeout(() => setLost(true), GRACE_MS);
    return () => clearTimeout(timer);
  }, [away]);
  return lost && away;
}
