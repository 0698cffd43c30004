/* Jobs: started, followed line by line, stopped. A job that was begun in this tab is found again after a reload. */

import * as api from "../api.js";
import { counted, tr } from "../phrases.js";
import { now, tell, update } from "../store.js";

const PAUSE = 400, PATIENCE = 20, PAGE = 500;
const keyOf = (name) => `countarfactuals.job.${name}`;

/** Begin a job for rows with a prediction. */
export async function startBatch(prediction, most) {
  const { name, wish, language } = now();
  put({ phase: "running", lines: [], total: most, id: null, problem: null });
  try {
    const keys = await keysOf(name, prediction, most);
    const { job: id } = await api.explainMany(name, { keys, ...wish, language, top: 3 });
    sessionStorage.setItem(keyOf(name), id);
    put({ id, total: keys.length });
    await follow(id, name);
  } catch (problem) {
    put({ phase: "problem", problem });
  }
}

/** Take up the job of this tab, if there is one and it is not followed already. */
export function followBatch() {
  const { name, batch } = now();
  const id = sessionStorage.getItem(keyOf(name));
  if (!id || batch.phase !== "idle") return;
  put({ phase: "running", lines: [], total: 0, id, problem: null });
  follow(id, name).catch(() => {
    sessionStorage.removeItem(keyOf(name));
    put({ phase: "idle", id: null, problem: null });
  });
}

/** Stop the job. */
export async function cancelBatch() {
  await api.cancel(now().batch.id).catch((problem) => put({ problem }));
}

async function keysOf(name, prediction, most) {
  const keys = [];
  while (keys.length < most) {
    const got = await api.rows(name, { prediction, offset: keys.length, limit: Math.min(PAGE, most - keys.length) });
    keys.push(...got.rows.map(({ key }) => key));
    if (!got.rows.length || keys.length >= got.matching) break;
  }
  return keys;
}

/** Read new lines until the job has ended; a connection that is lost for a while is no end. */
async function follow(id, name) {
  let missed = 0;
  for (;;) {
    try {
      const job = await api.job(id);
      if (now().batch.id !== id || now().name !== name) return;
      const more = await api.lines(id, now().batch.lines.length);
      put({ lines: [...now().batch.lines, ...more], total: job.total });
      missed = 0;
      if (!["queued", "running"].includes(job.state)) {
        put({ phase: job.state });
        tell(counted(now().batch.lines.length, "{n} row was explained.", "{n} rows were explained."));
        return;
      }
    } catch (problem) {
      if (problem.status || ++missed > PATIENCE) throw problem;
      tell(tr("The connection was lost; trying again."));
    }
    await new Promise((go) => setTimeout(go, PAUSE));
  }
}

const put = (changed) => update({ batch: { ...now().batch, ...changed } });
