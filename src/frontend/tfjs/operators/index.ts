import type { TensorflowOperators } from '../tensorflow-node.ts';
import { ELEMENTWISE } from './elementwise.ts';
import { LISTS } from './lists.ts';
import { MOVEMENT } from './movement.ts';
import { PRODUCTS } from './products.ts';
import { SELECTION } from './selection.ts';

/** The operators of TensorFlow that Weft reads, by family. */
export const FAMILIES = {
  'Products, pools and normalisation': PRODUCTS,
  'Element by element': ELEMENTWISE,
  'Shapes and moved elements': MOVEMENT,
  'Reductions, selection and pictures': SELECTION,
  Lists: LISTS,
} as const satisfies Record<string, TensorflowOperators>;

/** All of them. */
export const TENSORFLOW_OPERATORS: TensorflowOperators = Object.assign(
  {},
  ...Object.values(FAMILIES),
);
