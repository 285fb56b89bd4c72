// How times, links and JSON are written for the reader, by the browser's own locale data.

const DATE_ONLY = /^\d{4}-\d{2}-\d{2}$/;
const HAS_OFFSET = /(Z|[+-]\d{2}:?\d{2})$/i;
const DAY = { weekday: "short", year: "numeric", month: "short", day: "numeric" };
const MINUTE = { ...DAY, hour: "2-digit", minute: "2-digit", hourCycle: "h23" };

export function readerZone() {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function knownZone(zone) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return zone;
  } catch {
    return null;
  }
}

function range(start, end, locale, options) {
  const format = new Intl.DateTimeFormat(locale, options);
  return end && end > start ? format.formatRange(start, end) : format.format(start);
}

// A point without an offset is a wall clock: it is read and written as if in UTC.
function read(text) {
  const floating = !HAS_OFFSET.test(text);
  return { at: new Date(floating ? `${text}Z` : text), floating };
}

export function eventTime(data, locale) {
  if (!data || typeof data.startAt !== "string") return "";
  const startDay = data.startAt.slice(0, 10);
  if (data.allDay || DATE_ONLY.test(data.startAt)) {
    const endDay = typeof data.endAt === "string" ? data.endAt.slice(0, 10) : null;
    const end = endDay && endDay > startDay ? new Date(`${endDay}T00:00:00Z`) : null;
    return range(new Date(`${startDay}T00:00:00Z`), end, locale, { ...DAY, timeZone: "UTC" });
  }
  const start = read(data.startAt);
  const end = data.endAt ? read(data.endAt).at : null;
  if (Number.isNaN(start.at.getTime())) return data.startAt;
  const zone = start.floating ? "UTC" : (knownZone(data.timezone) ?? readerZone());
  const text = range(start.at, Number.isNaN(end?.getTime()) ? null : end, locale, { ...MINUTE, timeZone: zone });
  const named = start.floating ? data.timezone : zone;
  return named ? `${text} (${named})` : text;
}

// The reader's own time of an event in another zone; empty when it reads the same.
export function localTime(data, locale) {
  if (!data || data.allDay || typeof data.startAt !== "string" || DATE_ONLY.test(data.startAt)) return "";
  const { at, floating } = read(data.startAt);
  const zone = knownZone(data.timezone);
  if (floating || !zone || Number.isNaN(at.getTime())) return "";
  const inZone = (timeZone) => new Intl.DateTimeFormat(locale, { ...MINUTE, timeZone }).format(at);
  return inZone(zone) === inZone(readerZone()) ? "" : inZone(readerZone());
}

export function clock(text, locale) {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? "" : new Intl.DateTimeFormat(locale, MINUTE).format(at);
}

export function json(value) {
  return JSON.stringify(value, null, 2) ?? "";
}

// [key, text] pairs of an object, for a readable view of anything.
export function pairs(value) {
  if (value === null || typeof value !== "object") return [["", json(value)]];
  return Object.entries(value).map(([key, part]) => [key, typeof part === "string" ? part : json(part)]);
}

export function barColor(color) {
  return /^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.test(color ?? "") ? color : "#4F46E5";
}
