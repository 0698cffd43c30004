/* Words of the page: English phrases are the keys, and the server's catalogue says what they are in another language.
   Numbers, shares and days are written as the language does. */

let spoken = { code: "en", phrases: {}, plurals: {}, rules: new Intl.PluralRules("en") };

/** Speak a language from now on; `words` are its phrases and plurals, as the server has them. */
export function speak(code, words) {
  spoken = { code, rules: new Intl.PluralRules(code), ...words };
  document.documentElement.lang = code;
}

/** A phrase, its places in braces filled in. */
export function tr(english, values = {}) {
  return filled(spoken.phrases[english] ?? english, values);
}

/** The phrase for one or for several; `n` is a value of both. */
export function counted(n, one, several, values = {}) {
  const english = n === 1 ? one : several;
  return filled(spoken.plurals[several]?.[spoken.rules.select(n)] ?? english, { n, ...values });
}

function filled(phrase, values) {
  return phrase.replace(/\{(\w+)(?::[^}]*)?\}/g, (place, name) => {
    if (!(name in values)) return place;
    const value = values[name];
    return typeof value === "number" ? number(value) : String(value);
  });
}

/** A number with at most, and at least, so many decimals. */
export function number(value, decimals = 3, least = 0) {
  return new Intl.NumberFormat(spoken.code, { maximumFractionDigits: decimals, minimumFractionDigits: least }).format(value);
}

/** A share as whole per cent, as the library's sentences have it; what is not quite none or all is not told as such. */
export function percent(share) {
  const written = (value) => (spoken.code === "en" ? `${number(100 * value, 0)}\u00a0%`
    : new Intl.NumberFormat(spoken.code, { style: "percent", maximumFractionDigits: 0 }).format(value));
  if (share > 0 && share < 0.01) return `<${written(0.01)}`;
  if (share < 1 && share > 0.99) return `>${written(0.99)}`;
  return written(share);
}
