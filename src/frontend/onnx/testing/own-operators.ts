import { coreOperators } from '../../../ops/tables/core-operators.ts';
import { defineOp } from '../../../ops/define-op.ts';
import { defineElementwise } from '../../../ops/elementwise/elementwise.ts';
import * as f from '../../../ops/formula/build.ts';
import { f32, u32 } from '../../../ops/lowering/lowering.ts';
import type { Operator } from '../../../ops/operator.ts';
import { Operators } from '../../../ops/operators.ts';
import type { Importers, OnnxNode } from '../importers.ts';

// As somebody outside would write them, one of each kind.

/** A formula, of which both devices make what they run. */
export const squareplus: Operator = defineElementwise({
  name: 'squareplus',
  inputs: [{ name: 'x', dtypes: ['float32'] }],
  attributes: { b: { type: 'float', default: 4 } },
  scalar: {
    formula: f.mul(0.5, f.add(f.X, f.sqrt(f.add(f.mul(f.X, f.X), f.attribute('b'))))),
  },
  tolerance: { rtol: 1e-5, atol: 1e-6 },
});

/** A reference and a lowering, with a constant that is no integer. */
export const decay: Operator = {
  ...defineOp({
    name: 'decay',
    kind: 'anchor',
    inputs: [{ name: 'x', dtypes: ['float32'] }],
    attributes: {},
    infer: ([x]) => ({ dtype: 'float32', shape: x?.shape ?? [] }),
    lower: ({ output: { shape } }) => {
      const [rows = 0, columns = 0] = shape;
      return [
        {
          name: 'decay',
          source: `@compute @workgroup_size(WORKGROUP_SIZE_X)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x >= params.rows) { return; }
  var state = 0.0;
  for (var i = 0u; i < params.columns; i++) {
    let at = id.x * params.columns + i;
    state = state * RATE + load_x(at);
    store(at, state);
  }
}`,
          constants: { RATE: f32(0.5) },
          params: { rows: u32(rows), columns: u32(columns) },
          workgroupSize: [64, 1, 1],
          workgroups: [Math.ceil(rows / 64), 1, 1],
          reads: [{ hook: 'x', from: { kind: 'input', index: 0 }, width: 1 }],
          writes: [{ hook: '', to: { kind: 'output' }, width: 1 }],
        },
      ];
    },
    tolerance: { rtol: 1e-6, atol: 1e-6 },
  }),
  reference: {
    reference([x], _, output) {
      const columns = output.shape[1] ?? 1;
      for (let i = 0; i < output.elements.length; i++) {
        const before = i % columns === 0 ? 0 : Number(output.elements[i - 1]);
        output.elements[i] = before * 0.5 + Number(x?.elements[i] ?? 0);
      }
    },
  },
};

/** A composition: the executable holds what it means, and devices do not know it. */
export const shrink: Operator = {
  ...defineOp({
    name: 'shrink_to',
    kind: 'opaque',
    inputs: [{ name: 'x', dtypes: ['float32'] }],
    attributes: { limit: { type: 'float' } },
    infer: ([x]) => ({ dtype: 'float32', shape: x?.shape ?? [] }),
    tolerance: { rtol: 0, atol: 0 },
  }),
  composition: ({ attributes }) =>
    `let %bound = ${Number(attributes['limit']).toFixed(3)}f; minimum(maximum(%x, neg(%bound)), %bound)`,
};

/** The core operators and these. */
export const operators = new Operators([...coreOperators, squareplus, decay, shrink]);

/** Importers of `com.example`. */
export const importers: Importers = {
  'com.example': {
    Squareplus: {
      since: 1,
      makes: 'squareplus',
      import: (node: OnnxNode) =>
        node.call('squareplus', [node.input(0)], { b: node.attributes.float('b', 4) }),
    },
    Decay: { since: 1, makes: 'decay', import: (node) => node.call('decay', [node.input(0)]) },
    Shrink: {
      since: 1,
      makes: 'shrink_to',
      import: (node) =>
        node.call('shrink_to', [node.input(0)], { limit: node.attributes.float('limit', 1) }),
    },
  },
};
