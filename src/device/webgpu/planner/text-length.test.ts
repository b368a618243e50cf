import { expect, test } from 'vitest';
import type { AdapterClass } from '../../../core/contracts/launch-plan.ts';
import type { Attributes, OperatorCall } from '../../../core/contracts/primitive-function.ts';
import type { Shape } from '../../../core/tensor/shape.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { plan } from './plan.ts';
import { plannerCaps } from '../../../testing/planner-caps.ts';

const CAPS = plannerCaps('software');

interface Anchor {
  readonly op: string;
  readonly x: Shape;
  readonly w: Shape;
  readonly to: Shape;
  readonly attributes: Attributes;
}

const conv2d = (size: number): Anchor => ({
  op: 'conv2d',
  x: [1, 16, size, size],
  w: [16, 16, 3, 3],
  to: [1, 16, size, size],
  attributes: { strides: [1, 1], pads: [1, 1, 1, 1], dilations: [1, 1], groups: 1 },
});
const ANCHORS: readonly Anchor[] = [
  conv2d(4),
  conv2d(7),
  conv2d(32),
  { op: 'matmul', x: [1, 64], w: [64, 64], to: [1, 64], attributes: {} },
  { op: 'matmul', x: [33, 64], w: [64, 64], to: [33, 64], attributes: {} },
  { op: 'matmul', x: [65, 17], w: [17, 63], to: [65, 63], attributes: {} },
];
const CLASSES = ['software', 'integrated', 'discrete'] as const;

/** The shaders of an anchor that quantises and dequantises what it loads so many times. */
function shadersOf({ op, x, w, to, attributes }: Anchor, pairs: number, on: AdapterClass) {
  const shapes: Shape[] = [x, w, [x[1] ?? 1, ...x.slice(2).map(() => 1)], []];
  const body: OperatorCall[] = [];
  let value = 0;
  for (let pair = 0; pair < pairs; pair++) {
    for (const name of ['quantize', 'dequantize']) {
      body.push({ op: name, inputs: [value, 2, 3], attributes: {} });
      value = shapes.length + body.length - 1;
    }
  }
  body.push({ op, inputs: [value, 1], attributes });
  const dtypes = ['float32', 'float32', 'float32', 'uint8'] as const;
  const params = shapes.map((shape, i) => ({ dtype: dtypes[i] ?? 'float32', shape }));
  const result = shapes.length + body.length - 1;
  const results = [{ value: result, type: { dtype: 'float32', shape: to } as const }];
  const primitive = { name: 'quantized', params, body, results };
  const caps = { ...CAPS, adapterClass: on };
  const { launches } = plan(
    primitive,
    { params: shapes, results: [to] },
    { caps, operators: CORE_OPERATORS },
  );
  return new Set(launches.map(({ code }) => code));
}

const lengthOf = (codes: ReadonlySet<string>) =>
  [...codes].reduce((length, code) => length + code.length, 0);

test.each(
  ANCHORS.flatMap((anchor) =>
    CLASSES.map((on) => [`${anchor.op} of ${anchor.x.join(' x ')}`, on, anchor] as const),
  ),
)('what %s loads is written once on adapters that are %s', (_, on, anchor) => {
  const [none, two, four] = [0, 2, 4].map((pairs) => lengthOf(shadersOf(anchor, pairs, on)));
  if (none === undefined || two === undefined || four === undefined) throw new Error('no plans');
  // A call is a line or two of text; a kernel may load one by one and in groups of four.
  expect(four - two).toBeLessThan(2 * 2 * 2 * 250);
  expect(four - two).toBeLessThanOrEqual(two - none);
  // A compiler puts the text of a load wherever one is called: a tile of 16 rows does so 5 times each.
  for (const code of shadersOf(anchor, 1, on)) {
    const calls = code.match(/\bload_[ax]4?\(/g)?.length ?? 0;
    expect(calls).toBeLessThanOrEqual(84);
  }
});
