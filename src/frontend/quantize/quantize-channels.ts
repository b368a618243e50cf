import type { NodeProto } from '../onnx/protobuf/schema.ts';
import type { GraphScope } from './graph-scope.ts';
import type { WrittenNode } from './model-edits.ts';
import type { RoundedNode } from './quantize-product.ts';
import type { WeightCoder } from './weight-coder.ts';

/** Which inputs of operators are weights, and the axis of what each gives or reads with a scale of its own. */
export const WEIGHT_AXES: Readonly<
  Record<string, readonly (readonly [input: number, axis: number])[]>
> = {
  Conv: [[1, 0]],
  ConvTranspose: [[1, 1]],
  // (directions, gates, ...): a scale for each row of each gate, the same for both directions.
  GRU: [
    [1, 1],
    [2, 1],
  ],
  LSTM: [
    [1, 1],
    [2, 1],
  ],
  RNN: [
    [1, 1],
    [2, 1],
  ],
};

/** Constant weights as int8 with `DequantizeLinear` behind; or why they stay as they are. */
export function quantizeChannels(
  node: NodeProto,
  { scope, axes }: { scope: GraphScope; axes: readonly (readonly [number, number])[] },
  coder: WeightCoder,
): RoundedNode | string {
  const input = [...node.input];
  const written: WrittenNode[] = [];
  const released: string[] = [];
  let reason = 'its weights are computed';
  let [squared, count] = [0, 0];
  for (const [at, axis] of axes) {
    const name = input[at] ?? '';
    const found = scope.constantOf(name);
    if (found === undefined) continue;
    const coded = coder.channels(found, { node, scope, axis });
    if (typeof coded === 'string') {
      reason = coded;
      continue;
    }
    if (coded.node) written.push({ draft: coded.node });
    input[at] = coded.output;
    released.push(name);
    squared += coded.weightError ** 2;
    count++;
  }
  if (count === 0) return reason;
  coder.edits.replace(node, [...written, { base: node, draft: { input } }]);
  for (const name of released) coder.edits.release(name);
  return {
    becomes: 'weights of int8, a scale per channel',
    weightError: Math.sqrt(squared / count),
  };
}
