import { describe, expect, it } from 'vitest';
import { caseTensors } from '../../conformance/operator-conformance.ts';
import type { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { seededRandom } from '../../core/random.ts';
import { GraphBuilder } from '../adjoint/graph-builder.ts';
import { completeAttributes } from '../attributes.ts';
import { CORE_OPERATORS } from '../tables/core-operators.ts';
import { inferConcreteCall } from '../infer-concrete-call.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase } from '../op-cases.ts';
import { callReference } from '../testing/call-reference.ts';
import { asTensor, EagerGraph } from '../testing/eager-graph.ts';
import { testedOp } from '../testing/tested-ops.ts';
import { batchingOf } from './batching-of.ts';

const SIZE = 2;
const MAX_ELEMENTS = 1000;

/** Operators whose calls are made place by place. */
const PLACE_BY_PLACE = [
  'max_roi_pool',
  'max_pool_indices',
  'recurrent',
  'linear_attention',
  'full',
  'wgsl_kernel',
  'check_indices',
  'roi_align',
  'unique_inverse',
  'dims_tensor',
  'arange',
  'resize_table',
  'twiddles',
];

describe('a mapped call is one call after the other', () => {
  const ops = [...CORE_OPERATORS].filter((op) => batchingOf(op) !== undefined);

  it.each(ops.map(({ name }) => name))('%s', (name) => {
    const op = CORE_OPERATORS.require(name);
    const random = seededRandom(11);
    let compared = 0;
    for (const opCase of testedOp(name).cases()) {
      if (opCase.inputs.includes(undefined) || isLarge(op, opCase)) continue;
      for (const mapped of choices(opCase.inputs.length)) {
        compared += compare(op, opCase, { mapped, random }) ? 1 : 0;
      }
    }
    expect(compared).toBeGreaterThan(0);
  });

  it('but for these, and for those whose sizes depend on elements', () => {
    const others = [...CORE_OPERATORS].filter((op) => batchingOf(op) === undefined);
    const names = others.filter(({ kind }) => kind !== 'dynamic').map(({ name }) => name);
    expect(names).toEqual(PLACE_BY_PLACE);
  });
});

function isLarge(op: OpDefinition, opCase: OpCase): boolean {
  const { output } = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
  const shapes = [output, ...opCase.inputs].map((type) => type?.shape ?? []);
  return shapes.some((shape) => elementCount(shape) > MAX_ELEMENTS);
}

/** All operands mapped, and each alone. */
function choices(count: number): boolean[][] {
  const inputs = Array.from({ length: count }, (_, index) => index);
  const alone = inputs.map((index) => inputs.map((other) => other === index));
  return count === 1 ? alone : [inputs.map(() => true), ...alone];
}

function compare(
  op: OpDefinition,
  opCase: OpCase,
  { mapped, random }: { readonly mapped: readonly boolean[]; readonly random: () => number },
): boolean {
  const draws = Array.from({ length: SIZE }, () => caseTensors(opCase, random));
  const places = draws.map((draw) =>
    draw.map((tensor, index) => (mapped[index] === true ? tensor : draws[0]?.[index])),
  );
  const wanted = places.map((inputs) => callReference(op.name, inputs, opCase.attributes));
  const [first] = wanted;
  if (first === undefined) throw new Error('no result');
  const inputs = mapped.map((isMapped, index) => {
    const own = places.map((place) => place[index]).filter((tensor) => tensor !== undefined);
    const [tensor] = own;
    if (tensor === undefined) throw new Error('no operand');
    return { tensor: isMapped ? stacked(own) : tensor, isMapped, shape: tensor.shape };
  });
  const got = batchingOf(op)?.({
    name: op.name,
    inputs,
    attributes: completeAttributes(op, opCase.attributes ?? {}),
    output: first,
    size: SIZE,
    graph: new GraphBuilder(new EagerGraph()),
  });
  if (got === undefined) return false;
  const expected = stacked(wanted);
  expect({ dtype: got.dtype, shape: got.shape }).toEqual({
    dtype: expected.dtype,
    shape: expected.shape,
  });
  const { rtol, atol } = op.tolerance;
  const gotten = Array.from(asTensor(got).data, Number);
  const wrong = Array.from(expected.data, Number).findIndex((value, i) => {
    const other = gotten[i] ?? 0;
    const isNear = Math.abs(value - other) <= atol + rtol * Math.abs(value);
    return !(isNear || Object.is(value, other));
  });
  const title = `${opCase.title}, ${mapped.join(' ')}`;
  expect({ title, wrong }).toEqual({ title, wrong: -1 });
  return true;
}

/** One below the other along a new first axis. */
function stacked(tensors: readonly HostTensor[]): HostTensor {
  const rows = tensors.map((tensor) =>
    callReference('reshape', [tensor], { shape: [1, ...tensor.shape] }),
  );
  return callReference('concat', rows, { axis: 0 });
}
