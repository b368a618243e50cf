import { expect, test } from 'vitest';
import { WeftError } from '../../../src/core/errors.ts';
import { IMPORTERS } from '../../../src/frontend/onnx/operators/index.ts';
import { unlistedOperators } from '../../../src/frontend/onnx/testing/unlisted-operators.ts';
import { CASES } from './cases/index.ts';
import { Draw } from './draw.ts';
import { singleNodeModel } from './node-case.ts';

const DRAWS = 12;

test('operators become what their importers say', () => {
  const unlisted = new Set<string>();
  let imported = 0;
  for (const [name, generate] of Object.entries(CASES)) {
    for (let seed = 0; seed < DRAWS; seed++) {
      const draw = new Draw(seed, name);
      const node = generate(draw);
      const { makes = '' } = IMPORTERS.get(node.domain ?? '')?.get(node.op) ?? {};
      const { bytes } = singleNodeModel(node, draw, { isDynamic: seed % 2 === 1 });
      const found = unlistedIn(bytes, makes);
      if (!found.isEmpty) imported++;
      for (const core of found.unlisted) unlisted.add(`${name}: ${core}`);
    }
  }
  expect([...unlisted]).toEqual([]);
  expect(imported).toBeGreaterThan((Object.keys(CASES).length * DRAWS) / 2);
});

/** Nothing of a model that is refused, as some with named sizes are. */
function unlistedIn(model: Uint8Array, makes: string): ReturnType<typeof unlistedOperators> {
  try {
    return unlistedOperators(model, makes);
  } catch (error) {
    if (error instanceof WeftError) return { unlisted: [], isEmpty: true };
    throw error;
  }
}
