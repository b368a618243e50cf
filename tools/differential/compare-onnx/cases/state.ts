import type { DType } from '../../../../src/core/tensor/dtype.ts';
import { ELEMENT_TYPES } from '../../../../src/testing/onnx-writer.ts';
import { type Draw, integersBetween, ints, quarters, scalar } from '../draw.ts';
import type { CaseTable, NodeCase } from '../node-case.ts';

function dropout(draw: Draw): NodeCase {
  const opset = draw.pick([1, 6, 7, 10, 12, 13, 22]);
  const dtype = draw.pick(['float32', 'float32', 'float64'] as const);
  const x = draw.tensor(dtype, draw.shape({ to: 4 }));
  const outputs = opset >= 7 ? draw.pick([1, 2]) : 1;
  if (opset < 12) {
    return {
      op: 'Dropout',
      opset,
      inputs: [x],
      attributes: {
        ratio: draw.maybe(() => ({ float: 0.3 })),
        is_test: opset < 7 ? 1 : undefined,
      },
      outputs,
    };
  }
  return {
    op: 'Dropout',
    opset,
    inputs: [x, draw.maybe(() => scalar('float32', 0.4)), draw.maybe(() => scalar('bool', 0), 0.4)],
    parameters: [1, 2],
    isFixed: true,
    attributes: { seed: draw.maybe(() => 3) },
    outputs,
  };
}

function tensorScatter(draw: Draw): NodeCase {
  const rank = draw.int(3, 4);
  const shape = [draw.int(1, 3), ...Array.from({ length: rank - 1 }, () => draw.int(1, 5))];
  const axis = draw.int(1, rank - 1);
  const size = shape[axis] ?? 1;
  const count = draw.int(1, size);
  const mode = draw.maybe(() => draw.pick(['linear', 'circular']));
  return {
    op: 'TensorScatter',
    opset: 24,
    inputs: [
      draw.tensor('float32', shape),
      draw.tensor(
        'float32',
        shape.map((dim, i) => (i === axis ? count : dim)),
      ),
      draw.maybe(() =>
        draw.tensor(
          'int64',
          shape.slice(0, 1),
          integersBetween(0, mode === 'circular' ? size - 1 : size - count),
        ),
      ),
    ],
    parameters: [2],
    attributes: { axis: axis === rank - 2 ? draw.maybe(() => -2) : draw.sign(axis, rank), mode },
  };
}

const BIT_WIDTHS = [
  ['int8', 'uint8'],
  ['int16', 'uint16', 'float16'],
  ['int32', 'uint32', 'float32'],
  ['int64', 'uint64', 'float64'],
] as const;

function bitCast(draw: Draw): NodeCase {
  const dtypes = draw.pick<readonly DType[]>(BIT_WIDTHS);
  const x = draw.tensor(draw.pick(dtypes), draw.shape({ to: 3 }));
  return {
    op: 'BitCast',
    opset: 26,
    inputs: [x],
    attributes: { to: ELEMENT_TYPES[draw.pick(dtypes)] },
  };
}

function linearAttention(draw: Draw): NodeCase {
  const rule = draw.pick(['linear', 'gated', 'delta', 'gated_delta']);
  const [b, t, kv, group] = [draw.int(1, 2), draw.int(1, 4), draw.int(1, 2), draw.int(1, 2)];
  const [k, v] = [draw.int(1, 4), draw.int(1, 4)];
  const f = (shape: number[]) => draw.tensor('float32', shape, { number: (d) => d.real(-0.9, 0) });
  const heads = kv * group;
  return {
    op: 'LinearAttention',
    domain: 'com.microsoft',
    opset: 21,
    inputs: [
      f([b, t, heads * k]),
      f([b, t, kv * k]),
      f([b, t, kv * v]),
      draw.maybe(() => f([b, kv, k, v])),
      rule.startsWith('gated') ? f([b, t, kv]) : undefined,
      rule.endsWith('delta') ? f([b, t, kv]) : undefined,
    ],
    attributes: {
      q_num_heads: heads,
      kv_num_heads: kv,
      update_rule: rule,
      scale: draw.maybe(() => ({ float: 0.4 })),
    },
    outputs: 2,
    atol: 1e-3,
  };
}

function causalConv(draw: Draw): NodeCase {
  const [b, c, t, k] = [draw.int(1, 2), draw.int(1, 3), draw.int(1, 5), draw.int(1, 4)];
  const f = (shape: number[]) => draw.tensor('float32', shape, quarters);
  return {
    op: 'CausalConvWithState',
    domain: 'com.microsoft',
    opset: 21,
    inputs: [
      f([b, c, t]),
      f([c, 1, k]),
      draw.maybe(() => f([c])),
      draw.maybe(() => f([b, c, k - 1])),
    ],
    parameters: [1, 2],
    attributes: { activation: draw.maybe(() => draw.pick(['none', 'silu', 'swish'])) },
    outputs: 2,
  };
}

function expandScalar(draw: Draw): NodeCase {
  const x = draw.tensor('float32', []);
  return { op: 'Expand', opset: 13, inputs: [x, ints(draw.shape({ to: 4 }))], parameters: [1] };
}

export const STATE_CASES: CaseTable = {
  BitCast: bitCast,
  Dropout: dropout,
  'Expand.scalar': expandScalar,
  TensorScatter: tensorScatter,
  'microsoft.CausalConvWithState': causalConv,
  'microsoft.LinearAttention': linearAttention,
};
