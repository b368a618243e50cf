import { defineOp } from '../define-op.ts';
import { FLOATS } from '../elementwise/number-dtypes.ts';
import { commonDType, operand, requireShape } from '../operand-checks.ts';
import { activationsOf, CELL_NAMES, CELLS, cellOf, directionCount } from './recurrent-cell.ts';

/**
 * The recurrence of RNN, GRU and LSTM over all steps of a sequence, the equations as ONNX gives them.
 * Inputs come projected, (steps, batch, directions * gates * hidden), gates in ONNX's order.
 */
export const recurrent = defineOp({
  name: 'recurrent',
  kind: 'anchor',
  inputs: [
    ...['x', 'r', 'initial'].map((name) => ({ name, dtypes: FLOATS })),
    { name: 'vectors', dtypes: FLOATS, optional: true },
    { name: 'lengths', dtypes: ['int32'], optional: true },
  ],
  attributes: {
    cell: { type: 'string', oneOf: CELL_NAMES },
    direction: {
      type: 'string',
      default: 'forward',
      oneOf: ['forward', 'reverse', 'bidirectional'],
    },
    activations: { type: 'strings' },
    alphas: { type: 'floats' },
    betas: { type: 'floats' },
    clip: { type: 'float', default: 0, minimum: 0 },
    linear_before_reset: { type: 'bool', default: false },
    input_forget: { type: 'bool', default: false },
  },
  infer(inputs, attributes, dims) {
    activationsOf(attributes);
    const { gates, states, vectors } = CELLS[cellOf(attributes)];
    const directions = directionCount(attributes);
    const [x, r] = [operand(inputs, 0), operand(inputs, 1)];
    const [steps = dims.of(0), batch = dims.of(0)] = x.shape;
    const hidden = r.shape[1] ?? dims.of(0);
    const width = dims.mul(hidden, gates);
    const expected = [
      [steps, batch, dims.mul(width, directions)],
      [dims.of(directions), hidden, width],
      [dims.of(directions * states), batch, hidden],
      [dims.of(directions), dims.mul(hidden, vectors)],
      [batch],
    ];
    for (const [i, type] of inputs.entries()) {
      const name = ['x', 'r', 'initial', 'vectors', 'lengths'][i] ?? '';
      const where = `recurrent: input ${name}`;
      if (type !== undefined) requireShape(type, expected[i] ?? [], { dims, where });
    }
    const floats = inputs.slice(0, 4).flatMap((type) => (type === undefined ? [] : [type]));
    return {
      dtype: commonDType(floats, 'recurrent'),
      shape: [dims.add(steps, states), dims.of(directions), batch, hidden],
    };
  },
  lower: 'core',
  tolerance: { rtol: 1e-4, atol: 1e-5 },
});
