// Questions to the agent.

/** An answer that is none: `sentence` says why in the agent's words, `told` is all that it said. */
export class Refusal extends Error {
  constructor(status, told) {
    super(told.error ?? `The agent answered with status ${status}.`);
    this.status = status;
    this.told = told;
  }
}

/** Nobody answers, or not to the end. */
export class Away extends Error {}

const away = (error) => Promise.reject(error.name === "AbortError" ? error : new Away(error.message));

/** The response, if it is a good one. Throws a Refusal, or that nobody is there. */
export async function open(path, options = {}) {
  const response = await fetch(path, { cache: "no-store", ...options }).catch(away);
  if (response.ok) return response;
  const told = await response.json().catch(() => ({}));
  throw new Refusal(response.status, told);
}

/** The JSON at a path. */
export const ask = async (path, options) => (await open(path, options)).json().catch(away);

/** Waits for what may be refused or left unanswered, since the page says elsewhere that the agent is gone. */
export async function quietly(work) {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof Refusal || error instanceof Away || error.name === "AbortError")) throw error;
  }
}
