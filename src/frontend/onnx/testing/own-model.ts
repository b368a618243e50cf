import { writeOnnxModel } from '../../../testing/onnx-writer.ts';

/**
 * A model of nodes of `com.example`, for which `own-operators.ts` has importers, and Neg, one after
 * another, on an input [n, 4]. Apart from them: browser tests cannot import operators.
 */
export function ownModel(...nodes: readonly string[]): Uint8Array {
  return writeOnnxModel({
    opset: 17,
    opsets: { 'com.example': 1 },
    inputs: [{ name: 'v0', dtype: 'float32', shape: ['n', 4] }],
    nodes: nodes.map((op, i) => {
      const domain = op === 'Neg' ? {} : { domain: 'com.example' };
      return { op, inputs: [`v${i}`], outputs: [`v${i + 1}`], ...domain };
    }),
    outputs: [`v${nodes.length}`],
  });
}

/** An input of {@link ownModel}. */
export const X = [1, -2, 3, -4, 0, 0.5, -0.5, 8];

/** Results for {@link X}, by node. */
export const RESULTS = {
  Shrink: [1, -1, 1, -1, 0, 0.5, -0.5, 1],
  Decay: [1, -1.5, 2.25, -2.875, 0, 0.5, -0.25, 7.875],
  Squareplus: X.map((x) => 0.5 * (x + Math.sqrt(x * x + 4))),
} as const;
