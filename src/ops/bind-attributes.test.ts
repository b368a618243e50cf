import { expect, test } from 'vitest';
import type { Dim } from '../core/dims/dim.ts';
import type { Attributes, PrimitiveFunction } from '../core/contracts/primitive-function.ts';
import { bindAttributes } from './bind-attributes.ts';
import { CORE_OPERATORS } from './tables/core-operators.ts';
import { undeterminedSymbols } from '../compiler/passes/fuse/symbol-carriers.ts';

function primitive(
  op: string,
  attributes: Attributes,
  { from, to }: { readonly from: readonly Dim[]; readonly to: readonly Dim[] },
): PrimitiveFunction {
  return {
    name: op,
    params: [{ dtype: 'float32', shape: from }],
    body: [{ op, inputs: [0], attributes }],
    results: [{ value: 1, type: { dtype: 'float32', shape: to } }],
  };
}

function undetermined({ body, params, results }: PrimitiveFunction): readonly string[] {
  return undeterminedSymbols(body, [...params, ...results.map(({ type }) => type)], CORE_OPERATORS);
}

const half: Dim = { op: 'floordiv', left: 'n', right: 2 };
const twice: Dim = { op: 'mul', left: 'n', right: 2 };

test('takes symbols from the shapes of parameters and results', () => {
  const broadcast = primitive(
    'broadcast_to',
    { shape: ['n', half, 3] },
    {
      from: [half, 1],
      to: ['n', half, 3],
    },
  );
  const shapes = { params: [[3, 1]], results: [[7, 3, 3]] };
  expect(bindAttributes(broadcast, shapes, CORE_OPERATORS)[0]?.attributes).toEqual({
    shape: [7, 3, 3],
  });
  expect(undetermined(broadcast)).toEqual([]);
});

test('finds the symbol of a sum or product', () => {
  const sum: Dim = { op: 'add', left: twice, right: 'm' };
  const slice = primitive('slice', { starts: ['n'], ends: ['m'] }, { from: [twice], to: [sum] });
  const [call] = bindAttributes(slice, { params: [[8]], results: [[13]] }, CORE_OPERATORS);
  expect(call?.attributes).toEqual({ starts: [4], ends: [5] });
});

test('finds symbols in any order of equations, the same that are missed ahead', () => {
  const sum: Dim = { op: 'add', left: 'm', right: 'n' };
  const less: Dim = { op: 'mul', left: 'n', right: -1 };
  const pad = primitive('pad', { pads: [0, less] }, { from: [sum], to: ['m'] });
  const [call] = bindAttributes(pad, { params: [[7]], results: [[5]] }, CORE_OPERATORS);
  expect(call?.attributes).toEqual({ pads: [0, -2] });
  expect(undetermined(pad)).toEqual([]);
  expect(undeterminedSymbols(pad.body, pad.params, CORE_OPERATORS)).toEqual(['n']);
});

test('solves differences from both sides', () => {
  const [before, after]: Dim[] = [
    { op: 'sub', left: 'n', right: 3 },
    { op: 'sub', left: 9, right: 'm' },
  ];
  const slice = primitive(
    'slice',
    { starts: ['n'], ends: ['m'] },
    { from: [before ?? 0], to: [after ?? 0] },
  );
  const [call] = bindAttributes(slice, { params: [[4]], results: [[2]] }, CORE_OPERATORS);
  expect(call?.attributes).toEqual({ starts: [7], ends: [7] });
});

test('names what does not follow', () => {
  const slice = primitive('slice', { starts: ['n'], ends: [9] }, { from: [9], to: ['k'] });
  expect(undetermined(slice)).toEqual(['n']);
  expect(() =>
    bindAttributes(slice, { params: [[9]], results: [[2]] }, CORE_OPERATORS),
  ).toThrowErrorMatchingInlineSnapshot(
    `[ShapeError: slice: attribute starts: got the dimension n, expected dimensions that follow from the shapes of parameters and results.]`,
  );
});

test('leaves strings that are no dimensions, and calls without symbols', () => {
  const pad = primitive('pad', { pads: [1, 1], mode: 'edge' }, { from: ['n'], to: ['m'] });
  expect(bindAttributes(pad, { params: [[3]], results: [[5]] }, CORE_OPERATORS)).toBe(pad.body);
});
