// Runs stages in order. Neighbours that keep one core busy each run two at a time.
import { runStage } from './run-stage.mjs';

const AT_ONCE = 2;

/** Shows one output after the other, in the order in which they began; what comes too early is kept. */
class OutputQueue {
  #waiting = [];
  #show;

  constructor(show) {
    this.#show = show;
  }

  begin() {
    const output = { parts: [], hasEnded: false };
    this.#waiting.push(output);
    return {
      write: (part) => {
        output.parts.push(part);
        this.#showFirst();
      },
      end: () => {
        output.hasEnded = true;
        this.#showFirst();
      },
    };
  }

  #showFirst() {
    while (this.#waiting.length > 0) {
      const [first] = this.#waiting;
      for (const part of first.parts.splice(0)) this.#show(part);
      if (!first.hasEnded) return;
      this.#waiting.shift();
    }
  }
}

/** Resolves to the results, in the order of the stages. `show` prints a part of the output. */
async function runSideBySide(stages, show) {
  const outputs = new OutputQueue(show);
  const results = [];
  const left = [...stages.entries()];
  const runSome = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const [index, stage] = next;
      const { write, end } = outputs.begin();
      results[index] = await runStage(stage, write);
      end();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runSome));
  return results;
}

/** The results of stages (see {@link runStage}), in their order. */
export async function runStages(stages, show = (part) => process.stdout.write(part)) {
  const results = [];
  while (results.length < stages.length) {
    const rest = stages.slice(results.length);
    const end = rest.findIndex(({ cores }) => cores !== 1);
    const besides = rest.slice(0, end === -1 ? rest.length : end);
    if (besides.length > 1) results.push(...(await runSideBySide(besides, show)));
    else results.push(await runStage(rest[0]));
  }
  return results;
}
