import type { Expr } from '../../../compiler/ir/expr.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { becomes, type LiteImporters } from '../lite-importer.ts';
import type { LiteNode } from '../lite-node.ts';
import { convTranspose, kernelSizes, spatialSizes } from './convolution.ts';
import { LANDMARK_IMPORTERS } from './landmarks.ts';

/** The 32-bit integers of a structure of C. Throws FormatError for one that is too short. */
function wordsOf(node: LiteNode, count: number): readonly number[] {
  const { customOptions: bytes } = node.operator;
  if (bytes.byteLength < 4 * count) {
    throw node.malformed(`${bytes.byteLength} bytes of options`, `${4 * count} or more`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: count }, (_, i) => view.getInt32(4 * i, true));
}

/** Codes of MediaPipe's structures, in which 0 means unknown. */
const SAME = 1;

/** A transposed convolution with a bias, whose result is as large as its padding says. */
function convolution2dTransposeBias(node: LiteNode): Expr {
  const [padding = 0, strideW = 1, strideH = 1] = wordsOf(node, 3);
  const [x, weights] = [node.input(0), node.input(1)];
  const strides = [strideH, strideW];
  const kernel = kernelSizes(node, weights);
  const { dims } = node;
  const size = spatialSizes(node, x).map((from, axis): Dim => {
    const [stride = 1, taps = 1] = [strides[axis], kernel[axis]];
    const whole = dims.add(dims.mul(dims.sub(from, 1), stride), taps);
    if (padding !== SAME) return whole;
    const last = dims.mod(dims.sub(from, 1), stride);
    return dims.sub(whole, dims.max(dims.sub(taps - 1, last), 0));
  });
  const result = convTranspose(node, {
    x,
    weights,
    bias: [node.input(2)],
    size,
    padding: padding === SAME ? 0 : 1,
    strides,
  });
  return node.channelsLast(result);
}

/** Custom operators by their names: those of MediaPipe's models. */
export const CUSTOM_IMPORTERS: LiteImporters = {
  ...LANDMARK_IMPORTERS,
  Convolution2DTransposeBias: becomes('conv_transpose transpose', convolution2dTransposeBias),
};
