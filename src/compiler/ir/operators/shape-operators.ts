import type { Dim } from '../../../core/dims/dim.ts';
import type { Attributes } from '../../../core/contracts/primitive-function.ts';
import type { ScalarOperator } from './scalar-operator.ts';
import { INT_TYPE, SHAPE_HEAP_TYPE, SHAPE_TYPE, type Type, UNIT_TYPE } from '../type.ts';

/** Sizes that are known when the function runs, by number of slot. */
export const SHAPE_HEAP = 'shape_heap';

/** Stops the program unless a tensor has a rank and a dtype. */
export const CHECK_TENSOR = 'check_tensor';

/**
 * Compares the sizes of a tensor, or a shape, with `dims`, one text for each: `2`, `slot 1`, `any`;
 * `store 0` takes the size into a slot. `context` says where in a message.
 */
export const MATCH_SHAPE = 'match_shape';

/** Fills slots by a program of a stack machine: `const 4`, `load 0`, `mul`, `store 1`. */
export const COMPUTE_SHAPE = 'compute_shape';

/** A shape, one text for each size: `2`, `slot 1`. */
export const MAKE_SHAPE = 'make_shape';

/** The size that a slot holds. */
export const LOAD_SHAPE = 'load_shape';

/** A tensor with the elements of another, and the sizes of the second operand, which are `shape`. */
export const VIEW_AS = 'view_as';

/** Operators on sizes, which `lower-shapes` brings in. */
export const SHAPE_OPERATORS: readonly ScalarOperator[] = [
  {
    name: SHAPE_HEAP,
    inputs: [],
    attributes: { slots: { type: 'int', minimum: 0 } },
    result: SHAPE_HEAP_TYPE,
  },
  {
    name: CHECK_TENSOR,
    inputs: ['tensor'],
    attributes: {
      rank: { type: 'int', minimum: 0 },
      dtype: { type: 'dtype' },
      context: { type: 'string' },
    },
    result: UNIT_TYPE,
  },
  {
    name: MATCH_SHAPE,
    inputs: ['any', 'shape_heap'],
    attributes: { dims: { type: 'strings' }, context: { type: 'string' } },
    result: UNIT_TYPE,
  },
  {
    name: COMPUTE_SHAPE,
    inputs: ['shape_heap'],
    attributes: { program: { type: 'strings' } },
    result: UNIT_TYPE,
  },
  {
    name: MAKE_SHAPE,
    inputs: ['shape_heap'],
    attributes: { dims: { type: 'strings' } },
    result: SHAPE_TYPE,
  },
  {
    name: LOAD_SHAPE,
    inputs: ['shape_heap'],
    attributes: { slot: { type: 'int', minimum: 0 } },
    result: INT_TYPE,
  },
  {
    name: VIEW_AS,
    inputs: ['tensor', 'shape'],
    attributes: { shape: { type: 'dims' } },
    result: viewType,
  },
];

function viewType([tensor]: readonly Type[], { shape }: Attributes): Type {
  if (tensor?.kind !== 'tensor' || !Array.isArray(shape)) {
    throw new Error(`internal: ${VIEW_AS} without a tensor or a shape`);
  }
  const dims: readonly Dim[] = shape;
  return { kind: 'tensor', dtype: tensor.dtype, shape: dims };
}

const NAMES: ReadonlySet<string> = new Set(SHAPE_OPERATORS.map(({ name }) => name));

export function isShapeOperator(name: string): boolean {
  return NAMES.has(name);
}
