import type { Checks } from '../../show/checks.ts';
import { graphModels, operatorsOf, readGraphJson } from './graph-models.ts';
import { peerRun } from './peer-outputs.ts';

/** Operators of fewer models are told with their names. */
const FEW = 3;

/** The operators of TensorFlow.js graph models, and their outputs in TensorFlow.js: of all of them or those that words name. */
export async function showGraphModels(checks: Checks, words: readonly string[]): Promise<void> {
  const models = graphModels().filter(({ name }) => words.length === 0 || words.includes(name));
  checks.section(`${models.length} graph models in TensorFlow.js`);
  const users = new Map<string, string[]>();
  for (const model of models) {
    const operators = operatorsOf(readGraphJson(model));
    for (const op of operators.keys()) users.set(op, [...(users.get(op) ?? []), model.name]);
    const begin = performance.now();
    const { inputs, outputs } = await peerRun(model);
    const given = Object.values(inputs).map(({ dtype, shape }) => `${dtype} (${shape.join(', ')})`);
    const values = Object.values(outputs);
    checks.check(
      values.length > 0 &&
        values.every(({ data }) => Array.from(data, Number).every(Number.isFinite)),
      `${model.name}: ${operators.size} operators, ${given.join(' ')}, ${values.length} outputs, ${(performance.now() - begin).toFixed(0)} ms`,
    );
  }
  checks.section(`${users.size} operators`);
  for (const [op, names] of [...users].toSorted((a, b) => b[1].length - a[1].length)) {
    checks.note(`${op}: ${names.length < FEW ? names.join(', ') : `${names.length} models`}`);
  }
}
