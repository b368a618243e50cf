import { expect, test } from 'vitest';
import { postOrder } from '../../../src/compiler/ir/visit.ts';
import { WeftError } from '../../../src/core/errors.ts';
import { importOnnx } from '../../../src/frontend/onnx/import-onnx.ts';
import { IMPORTERS } from '../../../src/frontend/onnx/operators/index.ts';
import { CASES } from './cases/index.ts';
import { Draw } from './draw.ts';
import { singleNodeModel } from './node-case.ts';

const DRAWS = 12;

/** What importers read sizes with, and what one of the graph's own nodes stands for. */
const PLUMBING = /(^|_)sizes$|^(dims_tensor|signed_sizes|slice_indices|int_.*|dim|constant)$/;

test('operators become what their importers say', () => {
  const unlisted = new Set<string>();
  let imported = 0;
  for (const [name, generate] of Object.entries(CASES)) {
    for (let seed = 0; seed < DRAWS; seed++) {
      const draw = new Draw(seed, name);
      const node = generate(draw);
      const { makes = '' } = IMPORTERS.get(node.domain ?? '')?.get(node.op) ?? {};
      const listed = new Set(makes.split(' '));
      const used = coreOperators(singleNodeModel(node, draw, { isDynamic: seed % 2 === 1 }).bytes);
      imported += used.length > 0 ? 1 : 0;
      for (const core of used) {
        if (!listed.has(core) && !PLUMBING.test(core)) unlisted.add(`${name}: ${core}`);
      }
    }
  }
  expect([...unlisted]).toEqual([]);
  expect(imported).toBeGreaterThan((Object.keys(CASES).length * DRAWS) / 2);
});

/** None of a model that is refused, as some with named sizes are. */
function coreOperators(bytes: Uint8Array): readonly string[] {
  const names = new Set<string>();
  try {
    for (const fn of importOnnx(bytes).functions.values()) {
      for (const expr of postOrder(fn.body)) {
        if (expr.kind === 'call' && expr.callee.kind === 'operator') names.add(expr.callee.name);
      }
    }
  } catch (error) {
    if (!(error instanceof WeftError)) throw error;
  }
  return [...names];
}
