import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { byFours } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { elementAccess, type ElementAccess } from '../lowering/element-access.ts';
import { INTRINSICS } from '../formula/wasm/wasm-intrinsics.ts';
import { productKernel } from '../linear/product.wasm.ts';
import { softmaxRow } from '../normalization/softmax-row.wasm.ts';
import { innerKernel, withHalves } from '../lowering/wasm-kernels.ts';
import type { WasmLowering } from '../lowering/wasm-lowering.ts';
import { attentionProducts, type AttentionShape, attentionShape } from './attention-shape.ts';

/** For each head of keys: a product into memory, softmax in its place, and a product of that. */
export const attentionWasm: WasmLowering = withHalves((given) => {
  const access = elementAccess(given.output.dtype);
  if (given.output.dtype !== 'float32' || access === undefined) return undefined;
  const shape = attentionShape(given);
  const { heads, kvHeads, queries, batch, rows, keys, pitches, size, valueSize, strides } = shape;
  const problems = attentionProducts(shape);
  const scores = innerKernel(productKernel(problems.scores, 'none'), 'scores_');
  const values = innerKernel(productKernel(problems.values, 'none'), 'values_');
  const hasBias = given.inputs[3] !== undefined;
  return {
    functions: [...scores.functions, ...values.functions, weigh(shape, hasBias, access)],
    scratch: [Math.max(rows * keys * FLOAT, 16), ...scores.scratch, ...values.scratch],
    units: batch,
    work: batch * rows * keys * (size + valueSize),
    body({ inputs: [query, key, value, bias], output, scratch: [weights, ...scratch], units }) {
      if (!(query && key && value && weights)) return [];
      const [index, group, row, q, k, v, y] = w.locals(7);
      const head = plus(times(w.apply('i32.rem_u', index, w.i32(kvHeads)), heads / kvHeads), group);
      const [byBatch = 0, byHead = 0, byQuery = 0] = strides;
      const added = [
        times(w.apply('i32.div_u', index, w.i32(kvHeads)), byBatch * FLOAT),
        times(head, byHead * FLOAT),
        times(row, byQuery * FLOAT),
      ].reduce<Expression>((sum, part) => plus(sum, part), bias ?? w.i32(0));
      const place = plus(times(group, queries), row);
      const ofScores = {
        inputs: [q, k],
        output: weights,
        scratch: scratch.slice(0, scores.scratch.length),
      };
      const ofValues = {
        inputs: [weights, v],
        output: y,
        scratch: scratch.slice(scores.scratch.length),
      };
      return s.loop({ index, begin: units.first, end: units.end }, [
        s.set(q, plus(query, times(index, rows * size * FLOAT))),
        s.set(k, plus(key, times(index, pitches[0] * size * FLOAT))),
        s.set(v, plus(value, times(index, pitches[1] * valueSize * FLOAT))),
        s.set(y, plus(output, times(index, rows * valueSize * FLOAT))),
        ...scores.pack(ofScores),
        ...scores.run(ofScores),
        ...s.loop({ index: group, end: w.i32(rows / Math.max(queries, 1)) }, [
          ...s.loop({ index: row, end: w.i32(queries) }, [
            s.call('weigh', [plus(weights, times(place, keys * FLOAT)), added, row]),
          ]),
        ]),
        ...values.pack(ofValues),
        ...values.run(ofValues),
      ]);
    },
  };
});

/** `weigh(row, bias, query)`: makes weights of the products of a row, in place. */
function weigh(shape: AttentionShape, hasBias: boolean, access: ElementAccess): WasmFunction {
  const { keys, first } = shape;
  const [row, bias, query] = w.locals(3);
  const allowed = w.local('i32');
  const place = { base: row, access };
  const softmax = softmaxRow({ size: keys, stride: 1, lanes: 'along', rows: 1 }, place, place);
  const [pointer, index] = w.locals(2);
  const behind: Statement[] =
    first === undefined
      ? []
      : [
          s.set(allowed, plus(query, Math.min(first, 2 ** 30) + 1)),
          s.set(pointer, plus(row, times(allowed, FLOAT))),
          ...s.loop({ index, begin: allowed, end: w.i32(keys) }, [
            s.store(
              'f32',
              { address: pointer },
              { kind: 'constant', type: 'f32', value: -Infinity },
            ),
            s.increment(pointer, FLOAT),
          ]),
        ];
  const { maximum } = softmax;
  const isEmpty = w.apply('i32x4.all_true', w.apply('f32x4.eq', maximum, w.f32x4(-Infinity)));
  return {
    name: 'weigh',
    params: [row, bias, query],
    body: [
      ...adjust(shape, hasBias, { row, bias, access }),
      ...behind,
      ...softmax.findMaximum,
      // No key at all: the row is zeros, but for NaN.
      ...s.when(isEmpty, [...softmax.clear], [...softmax.weigh]),
    ],
  };
}

interface Adjusted {
  readonly row: Local;
  readonly bias: Local;
  readonly access: ElementAccess;
}

/** Caps the scores of a row and adds the bias to them. */
function adjust(
  { keys, softcap, strides }: AttentionShape,
  hasBias: boolean,
  { row, bias, access }: Adjusted,
): Statement[] {
  if (!hasBias && softcap === 0) return [];
  const byKey = strides[3] ?? 0;
  const [from, added] = w.locals(2);
  const vector = (count: number): Statement[] => {
    const statements: Statement[] = [];
    const bind = s.binder(statements);
    let score = bind(access.read(from, 0, count));
    if (softcap > 0) {
      const bent = bind(w.apply('f32x4.div', score, w.f32x4(softcap)));
      score = w.apply('f32x4.mul', INTRINSICS.tanh([bent], bind), w.f32x4(softcap));
    }
    if (hasBias) {
      const term = byKey === 0 ? w.load('splat32', added) : access.read(added, 0, count);
      score = w.apply('f32x4.add', score, term);
    }
    const value = bind(score);
    statements.push(...access.write(from, 0, { value, count }));
    return statements;
  };
  return [
    s.set(from, row),
    s.set(added, bias),
    ...byFours({ count: keys, pointers: [from, added], steps: [FLOAT, byKey * FLOAT] }, vector),
  ];
}
