import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Session, Tensor } from '../../../src/client/index.ts';
import { UnsupportedError } from '../../../src/core/errors.ts';
import { relativeError } from '../../real-models/compare-outputs.ts';
import type { Checks } from '../../show/checks.ts';
import { type GraphModel, graphModels, operatorsOf, readGraphJson } from './graph-models.ts';
import { type PeerRun, peerRun } from './peer-outputs.ts';

/** In float32, for sums in another order: the largest error of an output, relative to its range. */
const TOLERANCE = 1e-4;
/** Ranks of inputs that a graph says nothing of. */
const RANKS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  rvm: { 'downsample_ratio.rank': 0, 'r1i.rank': 4, 'r2i.rank': 4, 'r3i.rank': 4, 'r4i.rank': 4 },
};

/** Operators of fewer models are told with their names. */
const FEW = 3;

/** TensorFlow.js graph models beside TensorFlow.js, all of them or those that words name, and the operators that they hold. */
export async function showGraphModels(checks: Checks, words: readonly string[]): Promise<void> {
  const models = graphModels().filter(({ name }) => words.length === 0 || words.includes(name));
  checks.section(
    `${models.length} graph models on wasm: errors relative to the range of each output, at most ${TOLERANCE}`,
  );
  const users = new Map<string, string[]>();
  for (const model of models) {
    const operators = operatorsOf(readGraphJson(model));
    for (const op of operators.keys()) users.set(op, [...(users.get(op) ?? []), model.name]);
    const run = await peerRun(model);
    const title = `${model.name} of ${operators.size} operators`;
    try {
      const error = await errorOf(model, run);
      checks.check(error <= TOLERANCE, `${title}: error ${error.toExponential(1)}`);
    } catch (error) {
      checks.check(error instanceof UnsupportedError, `${title}: ${String(error)}`);
    }
  }
  checks.section(`${users.size} operators`);
  for (const [op, names] of [...users].toSorted((a, b) => b[1].length - a[1].length)) {
    checks.note(`${op}: ${names.length < FEW ? names.join(', ') : `${names.length} models`}`);
  }
}

async function errorOf(model: GraphModel, { inputs, outputs }: PeerRun): Promise<number> {
  const folder = dirname(model.path);
  const session = await Session.load(new Uint8Array(readFileSync(model.path)), {
    device: 'wasm',
    worker: false,
    dims: RANKS[model.name] ?? {},
    externalData: (path) => new Blob([new Uint8Array(readFileSync(join(folder, path)))]),
  });
  try {
    const given = Object.entries(inputs).map(
      ([name, { dtype, data, shape }]) => [name, new Tensor(dtype, data.slice(), shape)] as const,
    );
    const results = await session.run(Object.fromEntries(given));
    const errors = Object.entries(outputs).map(([name, expected]) => {
      const got = results[name.replace(/:0$/, '')];
      if (got === undefined) throw new Error(`got no output ${name}`);
      return relativeError(got, expected, name);
    });
    return Math.max(...errors);
  } finally {
    await session.dispose();
  }
}
