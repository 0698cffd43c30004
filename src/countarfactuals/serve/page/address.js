/* The part of the address after #: where one is, and a preset that is shared. No server ever sees it, and it has
   no row: only what is wanted and what may change. */

import { presetOf } from "./wishes.js";

export const STEPS = ["whose", "wanted", "ways", "what-if", "take-away"];

/** What the address says. */
export function fromAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const preset = said.get("preset");
  return { explainer: said.get("explainer"), language: said.get("language"), wish: preset && presetOf(decoded(preset)) };
}

/** An address that opens the page with the same wishes. */
export function addressOf(explainer, wish) {
  const said = new URLSearchParams({ explainer, preset: encoded(JSON.stringify(wish)) });
  return `${location.href.split("#")[0]}#${said}`;
}

const encoded = (text) => btoa(String.fromCharCode(...new TextEncoder().encode(text))).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

function decoded(text) {
  try {
    const bytes = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
  } catch {
    return "";
  }
}
