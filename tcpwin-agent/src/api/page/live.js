// The agent's ticks as they come: server-sent events, read with fetch, since an EventSource cannot tell why it was refused.

import { open } from "./ask.js";

/** Milliseconds before the next try, the first and the longest. */
const PAUSE = [500, 5000];

/**
 * Follows `path` for good. `on.event(name, data)` for each event, `on.gone(error)` whenever the stream has ended or cannot
 * be had; it is tried again, unless `on.gone` says false.
 */
export async function follow(path, on) {
  let pause = PAUSE[0];
  for (;;) {
    const stop = new AbortController();
    const hide = () => document.hidden && stop.abort();
    document.addEventListener("visibilitychange", hide);
    let error = null;
    try {
      const response = await open(path, { signal: stop.signal });
      await read(response, (name, data) => {
        pause = PAUSE[0];
        // What is wrong with this page is no reason to say that the agent is gone.
        try {
          on.event(name, data);
        } catch (fault) {
          reportError(fault);
        }
      });
    } catch (thrown) {
      error = thrown;
    }
    document.removeEventListener("visibilitychange", hide);
    if (document.hidden) {
      await seen();
      continue;
    }
    if (on.gone(error) === false) return;
    await new Promise((done) => setTimeout(done, pause));
    pause = Math.min(pause * 2, PAUSE[1]);
  }
}

/** Nobody looks: no tick is asked for until somebody does. */
async function seen() {
  while (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

/** Events of a stream: blocks of `name: value` lines with an empty line after each. */
async function read(response, tell) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const named = (name) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = named("data");
      if (data !== undefined) tell(named("event") ?? "message", JSON.parse(data));
    }
  }
}
