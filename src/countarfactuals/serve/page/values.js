/* Cells as people read and write them: by the kind of their column, with its unit. */

import { number, tr } from "./phrases.js";

const DAY = 86_400_000;
const CURRENCY = /^[€$£¥₹]$/;
const GROUPED = /^-?[1-9]\d{0,2}([.,]\d{3})+$/;

export const isNumber = ({ kind }) => kind === "number" || kind === "integer";
export const isTime = ({ kind }) => kind === "date" || kind === "time";
export const hasScale = (column) => isNumber(column) || isTime(column);
export const hasOrder = (column) => hasScale(column) || column.ordered || column.kind === "boolean";

/** A cell in words. */
export function cellText(column, value) {
  if (value === null || value === undefined || value === "") return tr("unknown");
  if (isNumber(column)) return typeof value === "number" ? withUnit(written(column, value), column.unit) : String(value);
  return levelText(column, value);
}

/** A level by its label. */
export function levelText(column, value) {
  if (column.kind === "boolean" && typeof value === "boolean") return value ? tr("yes") : tr("no");
  const found = (column.levels ?? []).find((level) => level.value === value);
  return found ? String(found.label) : String(value);
}

/** A cell of a change: as the service spells it, but for yes and no. */
export function changeText(about, { column: name }, value, text) {
  const column = about.columns.find((one) => one.name === name);
  return column?.kind === "boolean" ? cellText(column, value) : text;
}

/** A number with the unit of its column: 36,000 €, €36,000. */
export function withUnit(text, unit) {
  if (!unit) return text;
  if (CURRENCY.test(unit) && document.documentElement.lang === "en") return `${unit}${text}`;
  return `${text}\u00a0${unit}`;
}

/** With all decimals where it is money, else with those that it needs; years have no separator. */
function written(column, value) {
  if (column.years) return String(value);
  const decimals = column.kind === "integer" ? 0 : Math.min(column.decimals ?? 3, 6);
  return number(value, decimals, CURRENCY.test(column.unit) && decimals === 2 ? 2 : 0);
}

/** Ends of a range of which one may be open. */
export function rangeText(low, high, text) {
  if (low === null && high === null) return tr("any value");
  if (low === null) return tr("at most {value}", { value: text(high) });
  if (high === null) return tr("at least {value}", { value: text(low) });
  return tr("{low} to {high}", { low: text(low), high: text(high) });
}

/** A place on the scale of a column: numbers are themselves, days and moments milliseconds of which they are made. */
export function onScale(column, value) {
  if (value === null || value === undefined || value === "") return null;
  return isTime(column) && typeof value === "string" ? Date.parse(value.length > 10 ? `${value.replace(" ", "T")}Z` : value) / DAY : Number(value);
}

/** The value at a place on the scale. */
export function fromScale(column, place) {
  if (!isTime(column)) return rounded(column, place);
  const text = new Date(place * DAY).toISOString();
  return column.kind === "date" ? text.slice(0, 10) : text.slice(0, 19);
}

function rounded(column, value) {
  if (column.kind === "integer") return Math.round(value);
  const decimals = Math.min(column.decimals ?? 6, 12);
  return Number(value.toFixed(decimals));
}

/** A cell as it stands in a field that can be written: a number with the decimal sign of the language. */
export function editable(column, value) {
  if (value === null || value === undefined) return "";
  return isNumber(column) ? numeral(value) : String(value);
}

/** A number without separators, as it can be written in a field. */
export const numeral = (value) => String(value).replace(".", decimalSign());

/** What a text means in a column: {value}, or {error} in words. */
export function read(column, text) {
  const said = text.trim();
  if (said === "") return column.missing ? { value: null } : { error: tr("{name} needs a value.", { name: column.label }) };
  if (isNumber(column)) {
    const value = readNumber(said);
    return Number.isFinite(value) ? { value } : { error: tr("{name} needs a number, got “{text}”.", { name: column.label, text: said }) };
  }
  if (isTime(column)) return { value: said };
  const level = (column.levels ?? []).find((one) => String(one.value) === said || String(one.label) === said);
  if (level) return { value: level.value };
  return { error: tr("{name} has no level “{text}”.", { name: column.label, text: said }) };
}

/** The number that a text means, NaN for none. Of both signs the last one stands before decimals; one alone, before
    groups of three digits, does not if the language writes decimals with the other: 25.000 is many in German. */
export function readNumber(text) {
  const bare = text.replace(/[\s\u00a0\u202f'’€$£¥₹%]/g, "");
  const comma = bare.lastIndexOf(","), point = bare.lastIndexOf(".");
  const sign = comma > point ? "," : ".";
  const isGrouped = Math.min(comma, point) < 0 && sign !== decimalSign() && GROUPED.test(bare);
  const plain = isGrouped ? bare.replaceAll(sign, "") : bare.replaceAll(sign === "," ? "." : ",", "").replace(sign, ".");
  return plain === "" ? NaN : Number(plain);
}

const decimalSign = () => (number(0.5, 1).includes(",") ? "," : ".");

/** One row that was copied from a table or a file, or as JSON: {row, ignored} or {error} in words. */
export function pasted(text, columns) {
  const said = text.trim();
  if (!said) return { error: tr("Nothing was pasted yet.") };
  const cells = said.startsWith("{") ? ofJson(said) : ofTable(said, columns);
  if (cells.error) return cells;
  const byName = new Map(columns.flatMap((column) => [[String(column.label), column], [column.name, column]]));
  const row = {};
  for (const [name, cell] of Object.entries(cells.found)) {
    const column = byName.get(name.trim());
    if (!column) continue;
    const got = cell === null ? { value: null } : readMachine(column, String(cell));
    if (got.error) return got;
    row[column.name] = got.value;
  }
  const lacking = columns.filter(({ name }) => !(name in row));
  const needed = lacking.filter(({ missing }) => !missing);
  if (needed.length) return { error: tr("These features are not there: {names}.", { names: needed.map((one) => one.label).join(", ") }) };
  for (const { name } of lacking) row[name] = null;
  return { row };
}

/** A cell of a file: 1.234 is what programs write, whatever the language; else as a person writes it. */
function readMachine(column, text) {
  const value = text.trim() === "" ? NaN : Number(text);
  return isNumber(column) && Number.isFinite(value) ? { value } : read(column, text);
}

function ofJson(text) {
  try {
    return { found: JSON.parse(text) };
  } catch {
    return { error: tr("This begins like JSON but is none.") };
  }
}

/** With a line of names, or without one where all columns are there in their order. */
function ofTable(text, columns) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const sign = ["\t", ";", ","].find((one) => lines[0].includes(one)) ?? ",";
  const parts = lines.map((line) => split(line, sign));
  if (parts.length > 1) return { found: Object.fromEntries(parts[0].map((name, i) => [name, parts[1][i] ?? ""])) };
  if (parts[0].length === columns.length) return { found: Object.fromEntries(columns.map(({ name }, i) => [name, parts[0][i]])) };
  return { error: tr("A line of names and a line of values are needed, or all {n} values in the order of the features.", { n: columns.length }) };
}

function split(line, sign) {
  const cells = [];
  let cell = "", isQuoted = false;
  for (const one of line) {
    if (one === '"') isQuoted = !isQuoted;
    else if (one === sign && !isQuoted) cells.push(cell), (cell = "");
    else cell += one;
  }
  return [...cells, cell];
}
