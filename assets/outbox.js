// The reader's messages that the server does not have yet. They live here, in the tab, so that no fault of the server
// or of the way to it loses them: posted by HTTP, again and again under the same ids, which the server takes once.
import { useEffect, useSyncExternalStore } from "react";
import { isUp, onConnection } from "$/public/connection.js";

const KEPT = "outbox";
const RUNS = "/api/v1/agent/runs";
const PAUSES_MS = [500, 1000, 2000, 4000, 5000];
const PASSING = new Set([429, 502, 503, 504]); // what may pass is tried again without being asked

const NOTHING = [];
const listeners = new Set();
let letters = NOTHING; // {body, state: "sending" | "waiting" | "failed" | "sent", reason}
let page = { thread: "", ready: false, locale: "en", api: "", onSent: () => {} };
let begun = ""; // the thread that a message at "/" has begun, until the page knows it

const idOf = (letter) => letter.body.messages[0].id;

function change(next) {
  letters = next;
  try {
    const kept = letters.filter((letter) => letter.state !== "sent");
    if (kept.length) sessionStorage.setItem(KEPT, JSON.stringify(kept));
    else sessionStorage.removeItem(KEPT);
  } catch {
    // storage is full or forbidden: the message is in memory all the same
  }
  listeners.forEach((listener) => listener());
}

const mark = (id, marks) =>
  change(letters.map((letter) => (idOf(letter) === id ? { ...letter, ...marks } : letter)));

function newId(prefix) {
  // crypto.randomUUID is missing over plain http
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `${prefix}_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function zone() {
  try {
    return Intl.DateTimeFormat().resolvedOptions().timeZone || "";
  } catch {
    return "";
  }
}

async function post(letter, tries = 0) {
  const id = idOf(letter);
  const again = (reason) => {
    mark(id, { state: "waiting", reason });
    const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)];
    setTimeout(() => sendAgain(id, tries + 1, true), pause);
  };
  let response;
  try {
    response = await fetch(page.api + RUNS, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(letter.body),
    });
  } catch {
    return again("");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) {
    mark(id, { state: "sent" });
    page.onSent(letter.body.threadId);
  } else if (PASSING.has(response.status)) {
    again(answer.detail ?? "");
  } else {
    mark(id, { state: "failed", reason: answer.detail ?? String(response.status) });
  }
}

// Try once more to send the message; by itself only what still waits.
export function sendAgain(id, tries = 0, byItself = false) {
  const letter = letters.find((one) => idOf(one) === id);
  const due = byItself ? ["waiting"] : ["waiting", "failed"];
  if (!letter || !due.includes(letter.state)) return;
  mark(id, { state: "sending" });
  post(letter, tries);
}

function sendAllAgain() {
  if (isUp()) letters.forEach((letter) => sendAgain(idOf(letter), 0, true));
}

// What the page knows now; told by the composer.
export function tellOutbox(known) {
  page = known;
  if (page.thread || threadOfPath()) begun = "";
}

function threadOfPath() {
  const path = window.location.pathname;
  return path.startsWith("/t/") ? decodeURIComponent(path.slice(3)).replace(/\/$/, "") : "";
}

const openThread = () => threadOfPath() || page.thread || begun;

const busy = (thread) =>
  letters.some((letter) => letter.body.threadId === thread && ["sending", "waiting"].includes(letter.state));

// Send `text` to the open thread, or to a new one. False when that cannot be now: a message of this thread is still on
// its way, or the page does not know yet which thread is the newest.
export function say(text) {
  const open = openThread();
  if (open ? busy(open) : !page.ready) return false;
  if (!open) begun = newId("thread");
  const body = {
    threadId: open || begun,
    runId: newId("run"),
    messages: [{ id: newId("msg"), role: "user", content: text }],
    forwardedProps: { timezone: zone(), locale: page.locale },
  };
  const letter = { body, state: "sending", reason: "" };
  change([...letters, letter]);
  post(letter);
  return true;
}

function row(letter) {
  const { id, content } = letter.body.messages[0];
  return {
    kind: "message", id, status: "complete", role: "user", text: content, pending: true,
    failed: letter.state === "failed" ? letter.reason : "", waiting: letter.state === "waiting",
  }; // prettier-ignore
}

const subscribe = (listener) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

// Rows of the messages of the open thread that are in none of `lists`. What is in one has arrived and is forgotten, and
// so is what the server has for a thread that is not open.
export function useOutbox(thread, ...lists) {
  const all = useSyncExternalStore(subscribe, () => letters, () => NOTHING);
  const open = typeof window === "undefined" ? thread : thread || openThread();
  const arrived = new Set(lists.flatMap((rows) => (rows ?? []).map((one) => one.id)));
  const here = (letter) => letter.body.threadId === open;
  const left = all.filter((letter) => !arrived.has(idOf(letter)) && (here(letter) || letter.state !== "sent"));
  useEffect(() => {
    if (left.length !== all.length) change(left);
  });
  return left.filter(here).map(row);
}

if (typeof window !== "undefined") {
  try {
    letters = JSON.parse(sessionStorage.getItem(KEPT) ?? "[]").map((letter) =>
      letter.state === "sending" ? { ...letter, state: "waiting" } : letter,
    );
  } catch {
    letters = NOTHING;
  }
  setTimeout(sendAllAgain);
  onConnection(sendAllAgain);
  window.addEventListener("online", sendAllAgain);
}
