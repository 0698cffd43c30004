/* The page begins here. */

import { start } from "./actions.js";
import { App } from "./app.js";
import { html, render } from "./vendor/preact-htm.js";

const place = document.getElementById("app");
place.replaceChildren();
render(html`<${App} />`, place);
start();
