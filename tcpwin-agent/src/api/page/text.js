// Figures as people read them: the same as in `tcpwin top`.

function scaled(value, base, names) {
  let step = 0;
  let rest = Math.max(value, 0);
  while (rest >= base && step + 1 < names.length) {
    rest /= base;
    step += 1;
  }
  const digits = step === 0 || rest >= 100 ? 0 : rest >= 10 ? 1 : 2;
  return `${rest.toFixed(digits)} ${names[step]}`;
}

/** `2.90 Mbit/s`. */
export const bits = (value) =>
  value === undefined ? "" : scaled(value, 1000, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"]);

/** Exact below 10 KiB, then `64.0 KiB`. */
export const bytes = (value) =>
  value === undefined ? "" : value < 10_240 ? `${value} B` : scaled(value, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);

/** A round-trip time, given in microseconds. */
export function rtt(us) {
  if (us === undefined) return "";
  const ms = us / 1000;
  return `${ms.toFixed(ms >= 100 ? 0 : ms >= 1 ? 1 : 2)} ms`;
}

/** `×12`. */
export function gain(factor) {
  if (factor === undefined) return "";
  if (factor >= 1000) return ">×999";
  return `×${factor.toFixed(factor >= 10 ? 0 : 1)}`;
}

/** A share in percent. */
export function percent(share) {
  const value = share * 100;
  if (value === 0 || value >= 9.95) return `${value.toFixed(0)} %`;
  if (value >= 0.1) return `${value.toFixed(1)} %`;
  return value >= 0.01 ? `${value.toFixed(2)} %` : "<0.01 %";
}

/** `65,535`. */
export const count = (value) => value.toLocaleString("en-US");

/** A few per second: one digit below ten. */
export const perSecond = (rate) => `${rate > 0 && rate < 10 ? rate.toFixed(1) : rate.toFixed(0)}/s`;

/** How long, given in seconds: `42 s`, `3 m 20 s`, `2 h 5 m`, `3 d 4 h`. */
export function span(seconds) {
  if (seconds < 1) return `${(seconds * 1000).toFixed(0)} ms`;
  const whole = Math.floor(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} m`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}

/** `1 connection`, `2 connections`. */
export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
