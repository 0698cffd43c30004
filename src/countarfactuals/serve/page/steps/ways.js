/* Step 3: the ways there. Cards, the picture of all, and the chosen one beside the row. */

import { choose, explain, go, pin, putAway, say, stop } from "../actions.js";
import { Case } from "../parts/case.js";
import { Comparison } from "../parts/comparison.js";
import { Busy, focusTitle, ProblemNote, Title } from "../parts/notes.js";
import { TradeOff } from "../parts/trade_off.js";
import { WayCard } from "../parts/way_card.js";
import { counted, tr } from "../phrases.js";
import { tell, update } from "../store.js";
import { outcomeText, targetText } from "../targets.js";
import { html } from "../vendor/preact-htm.js";
import { keyOf, nWaiting, shown } from "../ways.js";
import { keepsAll } from "../wishes.js";

export function Ways({ state }) {
  const { answer } = state;
  const { view, ways, phase } = answer;
  return html`
    <${Title} lead=${phase === "done" && view ? leadOf(state) : null}>${tr("Ways there")}<//>
    <${Case} state=${state} />
    ${phase === "busy" && html`<${Busy} text=${tr("Looking for ways …")} onStop=${() => (stop(), focusTitle())} />`}
    ${phase === "stopped" && html`<div class="empty"><p>${tr("Stopped.")}</p><button class="main" onClick=${() => explain()}>${tr("Look for ways")}</button></div>`}
    ${phase === "problem" && html`<${ProblemNote} problem=${answer.problem} onAgain=${() => explain()} />
      <p class="buttons"><button class="plain" onClick=${() => go("wanted")}>${tr("Change what is wanted")}</button></p>`}
    ${ways.length > 0 && html`<${Found} state=${state} />`}
    ${phase === "done" && ways.length === 0 && view && html`<${None} state=${state} view=${view} />`}
    ${keepsAll(state.wish, state.about.columns) && html`<${None} state=${state} view=${{ reasons: [tr("All features stay as they are, so nothing can change.")] }} />`}
    ${view?.notes?.length > 0 && html`<details class="remarks"><summary>${tr("What else is to be known")}</summary><ul>${view.notes.map((note) => html`<li>${note}</li>`)}</ul></details>`}
  `;
}

function leadOf({ about, now, wish, answer: { view, ways } }) {
  const between = { from: outcomeText(about, now.label), to: targetText(about, wish.target) };
  if (ways.length) return counted(ways.length, "One way from {from} to {to} was found.", "{n} ways from {from} to {to} were found.", between);
  return view.status === "none" ? tr("No way from {from} to {to} was found.", between) : view.headline;
}

function Found({ state }) {
  const { answer, balance, chosen } = state;
  const asked = { ...state, ways: answer.ways };
  const cards = shown(asked);
  const way = answer.ways.find((one) => keyOf(one) === chosen) ?? cards[0];
  return html`
    <div class="found">
      <section class="cards" aria-labelledby="cards-title">
        <h2 id="cards-title" class="unseen">${tr("Ways")}</h2>
        <${Balance} balance=${balance} />
        ${cards.map((one) => html`<${WayCard} key=${keyOf(one)} way=${one} state=${state} isChosen=${one === way} isPinned=${state.pinned.includes(one)}
          onChoose=${() => choose(one)} onPin=${() => pin(one)} onAway=${() => (putAway(one), focusTitle())} />`)}
        ${cards.length === 0 && html`<p class="empty">${tr("You have put all of them away.")}</p>`}
        <${Others} state=${state} n=${nWaiting(asked)} cards=${cards} />
      </section>
      <div class="looked-at">
        <${TradeOff} state=${state} cards=${cards} way=${way} onChoose=${choose} />
        ${way && html`<${Comparison} state=${state} way=${way} onTry=${() => (update({ edited: way.row }), go("what-if"))} />`}
      </div>
    </div>`;
}

function Balance({ balance }) {
  const words = balance < 0.34 ? tr("closer to the case") : balance > 0.66 ? tr("more typical of real rows") : tr("both alike");
  return html`
    <label class="balance"><span class="balance-name">${tr("Which ways first?")}</span>
      <span class="balance-ends"><span>${tr("closer")}</span>
        <input type="range" min="0" max="100" step="5" value=${balance * 100} aria-valuetext=${words} onInput=${(event) => update({ balance: Number(event.target.value) / 100 })} />
        <span>${tr("more typical")}</span></span></label>`;
}

/** Others: those that wait, or a new search with another start. */
function Others({ state, n, cards }) {
  const { seen, away, pinned, answer } = state;
  const isBusy = answer.phase === "busy"; // a button that is disabled would lose the focus
  const next = () => {
    if (isBusy) return;
    const free = cards.filter((one) => !pinned.includes(one)).map(keyOf);
    update({ seen: [...seen, ...free] });
    if (n) tell(tr("Others are shown."));
    else explain(true);
  };
  return html`
    <div class="buttons others">
      <button class="plain" aria-disabled=${isBusy ? "true" : null} onClick=${next}>${n ? tr("Show me others") : tr("Look for others")}</button>
      ${(seen.length > 0 || away.length > 0) && html`<button class="plain" onClick=${() => (update({ seen: [], away: [] }), tell(tr("All are there again.")), focusTitle())}>${tr("Bring all back")}</button>`}
      <span class="quiet">${n ? counted(n, "{n} more", "{n} more") : ""}</span>
    </div>`;
}

/** What is lifted, in words: a lock by the feature's name. */
function liftText({ columns }, { text, clause }) {
  const locked = clause.kind === "fixed" && columns.find(({ name }) => name === clause.columns[0]);
  return locked ? tr("Let {name} change", { name: locked.label }) : text;
}

/** Nothing was found, or nothing is needed: why, and what would help. */
function None({ state, view }) {
  const { wish } = state;
  const lift = (wanted) => {
    say({ ...wish, ...wanted });
    explain();
    focusTitle();
  };
  if (view.status === "already") {
    return html`<div class="card none"><p>${tr("Nothing needs to change.")}</p>
      <button class="plain" onClick=${() => go("wanted")}>${tr("Want something else")}</button></div>`;
  }
  return html`
    <div class="card none">
      <h2>${tr("Why there is none")}</h2>
      ${view.reasons.map((reason) => html`<p>${reason}</p>`)}
      ${view.lifts?.length > 0 && html`
        <h3>${tr("What would help")}</h3>
        <ul class="lifts">${view.lifts.map((one) => html`
          <li><button class="main" onClick=${() => lift({ constraints: one.constraints })}>${liftText(state.about, one)}</button>
            ${typeof one.found === "number" && html`<span class="quiet">${counted(one.found, "{n} way then", "{n} ways then")}</span>`}</li>`)}</ul>`}
      <p class="buttons">
        ${!view.lifts?.length && Object.keys(wish.constraints).length > 0 && html`<button class="main" onClick=${() => lift({ constraints: {} })}>${tr("Do without all conditions")}</button>`}
        ${wish.target?.probability && html`<button class="plain" onClick=${() => lift({ target: { outcome: wish.target.outcome } })}>${tr("Do without the least probability")}</button>`}
        <button class="plain" onClick=${() => go("wanted")}>${tr("Change what is wanted")}</button></p>
    </div>`;
}
