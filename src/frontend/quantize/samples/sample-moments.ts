import type { HostTensor } from '../../../core/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { readModel } from '../../onnx/protobuf/read-model.ts';
import { GraphScope } from '../graph-scope.ts';
import { errorFeedback, type ErrorFeedback } from './error-feedback.ts';
import { type FloatValue, layerInput, type LayerInput } from './layer-inputs.ts';

/** Vectors of inputs that are added up for each element of one. */
const VECTORS_PER_ELEMENT = 2;
const LEAST_VECTORS = 16;
/** Of all layers together. Those with the longest rows go without first. */
const MOST_BYTES = 2 ** 29;

interface Layer {
  readonly input: LayerInput;
  /** Of each group: the lower triangle of the sum of x xᵀ, row by row. */
  readonly moments: readonly Float64Array[];
  /** Of each group, once it was asked for. */
  readonly feedback: (ErrorFeedback | undefined)[];
}

/**
 * What samples say of the inputs that the weights of a model are multiplied by, for convolutions and products by a matrix of
 * the main graph: with it `quantizeOnnx` rounds weights so that errors which these inputs would show cancel out.
 */
export class SampleMoments {
  /** The values of the model that each sample is to give. */
  readonly values: readonly string[];
  readonly #layers: ReadonlyMap<string, Layer>;
  readonly #random = seededRandom(1);

  /** Throws FormatError for bytes that are no model. */
  constructor(bytes: Uint8Array) {
    const { graph } = readModel(bytes);
    const scope = new GraphScope(graph);
    const inputs = graph.node.flatMap((node) => layerInput(node, scope) ?? []);
    this.#layers = layersOf(inputs);
    this.values = [...new Set([...this.#layers.values()].map(({ input }) => input.value))];
  }

  /** Adds the values of one of so many samples, by their names. Those that are no float32 are left out. */
  add(
    values: Readonly<Record<string, Pick<HostTensor, 'dtype' | 'shape' | 'data'>>>,
    samples: number,
  ): void {
    for (const { input, moments } of this.#layers.values()) {
      const value = values[input.value];
      if (value?.dtype !== 'float32') continue;
      const { shape, data } = value;
      const floats: FloatValue = { shape, data: data as Float32Array };
      const count = input.count(shape);
      const wanted = Math.ceil((VECTORS_PER_ELEMENT * input.depth) / samples);
      const taken = Math.min(count, Math.max(LEAST_VECTORS, wanted));
      for (const [group, sums] of moments.entries()) {
        const vector = new Float64Array(input.depth);
        for (let i = 0; i < taken; i++) {
          const index = taken === count ? i : Math.floor(this.#random() * count);
          input.read(floats, { group, index }, vector);
          addSquare(sums, vector);
        }
      }
    }
  }

  /** How a row of a node's weights is rounded; undefined where samples say nothing of it. */
  feedback(node: string, group = 0): ErrorFeedback | undefined {
    const layer = this.#layers.get(node);
    const moments = layer?.moments[group];
    if (layer === undefined || moments === undefined) return undefined;
    layer.feedback[group] ??= errorFeedback(moments, layer.input.depth);
    return layer.feedback[group];
  }

  /** Sets of rows of a node's weights that read different inputs. */
  groups(node: string): number {
    return this.#layers.get(node)?.input.groups ?? 1;
  }
}

function layersOf(inputs: readonly LayerInput[]): ReadonlyMap<string, Layer> {
  const layers = new Map<string, Layer>();
  let byteLength = 0;
  for (const input of inputs.toSorted((a, b) => a.depth - b.depth)) {
    const { depth, groups, node } = input;
    const length = (depth * (depth + 1)) / 2;
    byteLength += groups * length * Float64Array.BYTES_PER_ELEMENT;
    if (byteLength > MOST_BYTES) break;
    const moments = Array.from({ length: groups }, () => new Float64Array(length));
    layers.set(node, { input, moments, feedback: [] });
  }
  return layers;
}

function addSquare(sums: Float64Array, vector: Float64Array): void {
  for (let i = 0, at = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    if (value === 0) at += i + 1;
    else for (let j = 0; j <= i; j++, at++) sums[at] = (sums[at] ?? 0) + value * (vector[j] ?? 0);
  }
}
