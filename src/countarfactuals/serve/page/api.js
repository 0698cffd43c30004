/* What is asked of the service. Addresses are relative to this file, so that any prefix in front of them stays.
   A token, if the service wants one, is kept for this tab alone. */

const ROOT = new URL("../", import.meta.url);
const TOKEN = "countarfactuals.token";

/** An answer that is no result: what went wrong, in the library's words. */
export class Problem extends Error {
  constructor({ status = 0, title = "", detail = "", hint = "", parameter = "" }) {
    super(detail || title);
    Object.assign(this, { status, title, detail: detail || title, hint, parameter });
  }
}

/** Keep the token for this tab. */
export function keepToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

async function send(path, { body, headers = {}, ...options } = {}) {
  const token = sessionStorage.getItem(TOKEN);
  if (token) headers = { ...headers, Authorization: `Bearer ${token}` };
  if (body !== undefined) {
    headers = { ...headers, "Content-Type": "application/json" };
    options = { method: "POST", ...options, body: JSON.stringify(body) };
  }
  let answer;
  try {
    answer = await fetch(new URL(path, ROOT), { ...options, headers, cache: "no-store", credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ title: "unreachable" });
  }
  if (answer.ok) return answer;
  throw new Problem({ status: answer.status, ...(await answer.json().catch(() => ({ title: answer.statusText }))) });
}

const json = async (path, options) => (await send(path, options)).json();
const text = async (path, options) => (await send(path, options)).text();
const of = (name) => `v1/explainers/${encodeURIComponent(name)}`;
const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value != null));

export const phrasesOf = (code) => json(`page/phrases/${encodeURIComponent(code)}.json`);
export const explainers = () => json("v1/explainers");
export const explainer = (name, language) => json(`${of(name)}?${query({ language })}`);
export const rows = (name, asked, signal) => json(`${of(name)}/rows?${query(asked)}`, { signal });
export const predict = (name, body, signal) => json(`${of(name)}/predict`, { body, signal });
export const explain = (name, body, signal) => json(`${of(name)}/explain`, { body, signal });
export const evaluate = (name, body, signal) => json(`${of(name)}/evaluate`, { body, signal });
export const curve = (name, body, signal) => json(`${of(name)}/curve`, { body, signal });
export const report = (name, body) => text(`${of(name)}/report`, { body, headers: { Accept: "text/html" } });
export const letter = (name, body, form) => text(`${of(name)}/letter`, { body, headers: { Accept: form } });

/** Many rows as a job of the server, which goes on when the connection is lost. */
export const explainMany = (name, body) =>
  json(`${of(name)}/explain-many`, { body, headers: { Prefer: "respond-async", Accept: "application/json" } });
export const job = (id) => json(`v1/jobs/${encodeURIComponent(id)}`);
export const recourse = (id, by, language) => json(`v1/jobs/${encodeURIComponent(id)}/recourse?${query({ by, language })}`);
export const cancel = (id) => send(`v1/jobs/${encodeURIComponent(id)}`, { method: "DELETE" });

/** The lines of a job from one on. */
export async function lines(id, from) {
  const all = await text(`v1/jobs/${encodeURIComponent(id)}/lines?from=${from}`);
  return all.split("\n").filter(Boolean).map(JSON.parse);
}
