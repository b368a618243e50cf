import { expect, test } from 'vitest';
import { BUILTIN_IMPORTERS } from '../../../src/frontend/tflite/operators/index.ts';
import { judgeCase } from './compare-case.ts';
import { goldenCase, goldenOutputs, readGolden } from './golden.ts';
import type { LiteModelCase } from './lite-graph.ts';

const hasImporters = ({ nodes }: LiteModelCase): boolean =>
  nodes.every(({ op }) => Object.hasOwn(BUILTIN_IMPORTERS, op));

/** Kinds of elements that operators are tried with. */
const KINDS = new Set(['float32', 'half', 'int32', 'int64', 'bool']);

/** True of cases of those kinds, and of graphs whose numbers stand for themselves. */
function isTried(name: string, { nodes }: LiteModelCase): boolean {
  const [op, kind = ''] = name.split(' ');
  if (op !== 'graph') return KINDS.has(kind);
  return nodes.every(({ inputs }) =>
    inputs.every((operand) => operand?.quantization === undefined),
  );
}

test.each(['host', 'wasm'] as const)('operators on %s give what LiteRT.js gave', async (device) => {
  const complaints: string[] = [];
  let same = 0;
  for (const [name, outputs] of readGolden()) {
    const model = goldenCase(name);
    if (!isTried(name, model)) continue;
    const verdict = await judgeCase(model, goldenOutputs(model, outputs), { device });
    const expected = hasImporters(model) ? 'same' : 'refused';
    if (verdict.kind === 'same') same++;
    if (verdict.kind === expected) continue;
    complaints.push(`${name}: ${verdict.kind}, ${verdict.reason}\n${model.text}`);
  }
  expect(complaints).toEqual([]);
  expect(same).toBeGreaterThan(100);
});
