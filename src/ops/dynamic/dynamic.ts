import { formatDim } from '../../core/dims/dim.ts';
import { ShapeError } from '../../core/errors.ts';
import { dimsAttribute, stringAttribute } from '../attributes.ts';
import { defineOp, tensor } from '../define-op.ts';
import { EXACT } from '../elementwise/elementwise.ts';
import { commonDType, operand, present, requireRank, requireSingle } from '../operand-checks.ts';
import { COMPARED_DTYPES } from './compared-elements.ts';
import { defineDynamicOp } from './define-dynamic-op.ts';
import { INTEGERS } from './integers.ts';

/** Where elements are not zero: a column of coordinates for each, in row-major order. */
export const nonzero = defineDynamicOp({
  name: 'nonzero',
  inputs: [tensor('x', COMPARED_DTYPES)],
  attributes: {},
  infer: (inputs, _, dims) => ({
    dtype: 'int64',
    shape: [dims.of(operand(inputs, 0).shape.length), dims.unknown()],
  }),
});

/** Boxes by score, but for those that overlap a better one of their class too much. */
export const nonMaxSuppression = defineDynamicOp({
  name: 'non_max_suppression',
  inputs: [
    tensor('boxes', ['float32']),
    tensor('scores', ['float32']),
    tensor('most', ['int64']),
    tensor('most_overlap', ['float32']),
    tensor('least_score', ['float32']),
  ],
  attributes: { centered: { type: 'bool', default: false } },
  infer(inputs, _, dims) {
    const [boxes, scores] = [operand(inputs, 0), operand(inputs, 1)];
    requireRank(boxes, 3, 'non_max_suppression: input boxes');
    requireRank(scores, 3, 'non_max_suppression: input scores');
    for (const index of [2, 3, 4]) {
      if (operand(inputs, index).shape.length > 0) {
        throw new ShapeError({
          where: 'non_max_suppression',
          got: `input ${index} of rank ${operand(inputs, index).shape.length}`,
          expected: 'rank 0',
        });
      }
    }
    const complaint = () => ({
      where: 'non_max_suppression',
      got: `boxes (${boxes.shape.map(formatDim).join(', ')}) and scores (${scores.shape.map(formatDim).join(', ')})`,
      expected: '(batch, n, 4) and (batch, classes, n)',
    });
    const [batch = dims.of(0), count = dims.of(0), four = dims.of(0)] = boxes.shape;
    dims.requireEqual(four, dims.of(4), complaint);
    dims.requireEqual(scores.shape[0] ?? batch, batch, complaint);
    dims.requireEqual(scores.shape[2] ?? count, count, complaint);
    return { dtype: 'int64', shape: [dims.unknown(), dims.of(3)] };
  },
});

const ORDERED_DTYPES = COMPARED_DTYPES.filter((dtype) => dtype !== 'bool');

/** start, start + delta, start + 2 delta, … as far as they lie before limit. */
export const range = defineDynamicOp({
  name: 'range',
  inputs: ['start', 'limit', 'delta'].map((name) => ({ name, dtypes: ORDERED_DTYPES })),
  attributes: { where: { type: 'string', default: 'range' } },
  infer(inputs, attributes, dims) {
    const where = stringAttribute(attributes, 'where');
    const complaint = () => ({
      where,
      got: 'a bound of several elements',
      expected: 'single elements',
    });
    requireSingle(present(inputs), dims, complaint);
    return { dtype: commonDType(present(inputs), where), shape: [dims.unknown()] };
  },
});

/** Triangles over a spectrum, at equal distances on the mel scale. */
export const melWeights = defineDynamicOp({
  name: 'mel_weights',
  inputs: [
    ...['mel_bins', 'dft_length', 'sample_rate'].map((name) => ({ name, dtypes: INTEGERS })),
    ...['lower', 'upper'].map((name) => ({ name, dtypes: ['float32'] as const })),
  ],
  attributes: { where: { type: 'string', default: 'mel_weights' } },
  infer(inputs, attributes, dims) {
    const where = stringAttribute(attributes, 'where');
    const complaint = () => ({ where, got: 'several elements', expected: 'single elements' });
    requireSingle(present(inputs), dims, complaint);
    return { dtype: 'float32', shape: [dims.unknown(), dims.unknown()] };
  },
});

/** Dimensions as elements, for what is no longer arithmetic of sizes: `Sqrt(Cast(Shape(x)))`. */
export const dimsTensor = defineOp({
  name: 'dims_tensor',
  kind: 'opaque',
  hostOnlyBecause: 'the sizes of tensors are known on the host',
  inputs: [],
  attributes: { dims: { type: 'dims' } },
  infer: (_, attributes, dims) => ({
    dtype: 'int64',
    shape: [dims.of(dimsAttribute(attributes, 'dims').length)],
  }),
  tolerance: EXACT,
});

/** A range whose length is arithmetic of sizes, such as positions of a sequence. */
export const arange = defineOp({
  name: 'arange',
  kind: 'opaque',
  hostOnlyBecause: 'the sizes of tensors are known on the host',
  inputs: [],
  attributes: {
    start: { type: 'dims', length: 1 },
    size: { type: 'dims', length: 1, minimum: 0 },
    step: { type: 'int', default: 1 },
  },
  infer: (_, attributes, dims) => ({
    dtype: 'int64',
    shape: dimsAttribute(attributes, 'size').map((dim) => dims.of(dim)),
  }),
  tolerance: EXACT,
});
