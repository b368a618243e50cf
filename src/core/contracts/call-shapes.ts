import { evaluateDim } from '../dims/dim.ts';
import type { PrimitiveFunction, TensorType } from './primitive-function.ts';
import type { Shape } from '../tensor/shape.ts';

/** Shapes of the tensors of one call of a primitive function; an absent result takes what is computed. */
export interface CallShapes {
  readonly params: readonly Shape[];
  readonly results: readonly Shape[];
}

/** Values of symbolic dimensions by name. */
export type Sizes = ReadonlyMap<string, number>;

/** The shapes of a primitive all of whose symbols have a size, else undefined. */
export function shapesOf(
  primitive: PrimitiveFunction,
  sizes: Sizes = new Map(),
): CallShapes | undefined {
  const params = primitive.params.map((type) => shapeOf(type, sizes));
  const results = primitive.results.map(({ type }) => shapeOf(type, sizes));
  return params.every(isShape) && results.every(isShape) ? { params, results } : undefined;
}

function shapeOf({ shape }: TensorType, sizes: Sizes): Shape | undefined {
  const dims = shape.map((dim) => evaluateDim(dim, sizes) ?? -1);
  return dims.every((dim) => dim >= 0) ? dims : undefined;
}

function isShape(shape: Shape | undefined): shape is Shape {
  return shape !== undefined;
}
