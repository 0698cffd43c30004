/* The name of a feature, which may go on in the next line where its parts meet: employment_|years, Garage|Area. */

import { html } from "../vendor/preact-htm.js";

const SEAMS = /(?<=[_./-])(?=[^_./-])|(?<=\p{Ll})(?=\p{Lu})/u;

/** The parts of a name, none of which is broken unless it alone is too long. */
export const partsOf = (name) => String(name).split(SEAMS);

export const Name = ({ of }) => partsOf(of).map((part, i) => (i ? [html`<wbr />`, part] : part));
