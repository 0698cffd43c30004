/* Step 5: take away. A report, a letter, the data, and the code that gives the same. */

import * as api from "../api.js";
import { Case } from "../parts/case.js";
import { copied, saveFile } from "../parts/files.js";
import { Busy, ProblemNote, Title } from "../parts/notes.js";
import { tr } from "../phrases.js";
import { tell } from "../store.js";
import { html, useState } from "../vendor/preact-htm.js";

export function TakeAway({ state }) {
  const { name, answer, language } = state;
  const [busy, work] = useState(null);
  const [problem, tellProblem] = useState(null);
  const isReady = answer.phase === "done" && answer.result;
  const save = async (what, file, type, made) => {
    if (!isReady || busy !== null) return; // a button that is disabled would lose the focus
    work(what);
    tellProblem(null);
    try {
      saveFile(file, await made(), type);
      tell(tr("{file} was saved.", { file }));
    } catch (error) {
      tellProblem(error);
    }
    work(null);
  };
  const body = { result: answer.result, language };
  const things = [
    ["report", tr("Report"), tr("All ways with tables and pictures, as one file that opens in any browser."), `${name}-report.html`, "text/html", () => api.report(name, body)],
    ["letter", tr("Letter"), tr("The decision in plain words, for the person whom it concerns."), `${name}-letter.html`, "text/html", () => api.letter(name, body, "text/html")],
    ["letter-text", tr("Letter as text"), tr("The same without any layout, to be pasted into your own letter."), `${name}-letter.txt`, "text/plain", () => api.letter(name, body, "text/plain")],
    ["json", tr("Data"), tr("Everything as JSON, for Python and other programs."), `${name}-result.json`, "application/json", async () => JSON.stringify(answer.result, null, 2)],
  ];
  return html`
    <${Title} lead=${tr("Keep what was found, or do the same elsewhere.")}>${tr("Take away")}<//>
    <${Case} state=${state} />
    ${answer.phase === "busy" && html`<${Busy} text=${tr("Looking for ways …")} />`}
    ${(problem ?? answer.problem) && html`<${ProblemNote} problem=${problem ?? answer.problem} />`}
    <ul class="things">
      ${things.map(([what, title, text, file, type, made]) => html`
        <li class="card" key=${what}><h2>${title}</h2><p class="quiet">${text}</p>
          <button class="main" aria-disabled=${!isReady || busy !== null ? "true" : null} onClick=${() => save(what, file, type, made)}>${busy === what ? tr("Being made …") : tr("Save")}<span class="unseen"> ${file}</span></button></li>`)}
    </ul>
    ${isReady && html`
      <${Code} title=${tr("The same in Python")} text=${answer.view.code?.python} />
      <${Code} title=${tr("The same on the command line")} text=${answer.view.code?.command} />`}
  `;
}

function Code({ title, text }) {
  if (!text) return null;
  const copy = async () => tell((await copied(text)) ? tr("Copied.") : tr("It could not be copied."));
  return html`
    <section class="card code"><div class="beside"><h2>${title}</h2><button class="plain small" onClick=${copy}>${tr("Copy")}<span class="unseen">: ${title}</span></button></div>
      <pre tabindex="0" aria-label=${title}><code>${text}</code></pre></section>`;
}
