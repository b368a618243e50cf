import type { HostTensor } from '../../../core/tensor/host-tensor.ts';
import { seededRandom } from '../../../core/random.ts';
import { readModel } from '../../onnx/protobuf/read-model.ts';
import type { TensorProto } from '../../onnx/protobuf/schema.ts';
import { GraphScope } from '../graph-scope.ts';
import { layerKey } from '../quantized-layer.ts';
import { errorFeedback, type ErrorFeedback } from './error-feedback.ts';
import { type FloatValue, layerInput, type LayerInput } from './layer-inputs.ts';
import { readShownValue, showInnerValues, type ShownValue } from './show-inner-values.ts';

/** Vectors of inputs that are added up for each element of one. */
const VECTORS_PER_ELEMENT = 2;
const LEAST_VECTORS = 16;
/** Of all layers together. Those with the longest rows go without first. */
const MOST_BYTES = 2 ** 29;

/** Inputs that are multiplied by one tensor of weights, in any of its nodes. */
interface Layer {
  readonly depth: number;
  readonly readers: readonly Reader[];
  /** Of each group: the lower triangle of the sum of x xᵀ, row by row. */
  readonly moments: readonly Float64Array[];
  /** Vectors of each group that were added up. */
  count: number;
  /** The feedback of each group, once it was asked for. */
  readonly feedback: (ErrorFeedback | undefined)[];
}

/** A node that reads weights. */
interface Reader {
  readonly key: string;
  readonly input: LayerInput;
  readonly scope: GraphScope;
}

type Values = Parameters<SampleMoments['add']>[0];

/**
 * Moments of the inputs that convolutions and products multiply by weights, summed over samples:
 * `quantizeOnnx` rounds weights so that errors which these inputs would show cancel out. Layers in
 * branches and in bodies of loops count the inputs of every time that these ran. Weights that
 * several nodes read count the inputs of all of them.
 */
export class SampleMoments {
  /** The model, whose main graph also has what layers of inner graphs read. */
  readonly model: Uint8Array;
  /** The values of that model's main graph that each sample is to give. */
  readonly values: readonly string[];
  readonly #layers: readonly Layer[];
  readonly #ofNodes: ReadonlyMap<string, Layer>;
  readonly #shown: ReadonlyMap<Reader, ShownValue>;
  readonly #random = seededRandom(1);

  /** Throws FormatError for bytes that are no model. */
  constructor(bytes: Uint8Array) {
    const { model, graph } = readModel(bytes);
    const main = new GraphScope(graph);
    this.#layers = layersOf(main);
    this.#ofNodes = new Map(
      this.#layers.flatMap((layer) => layer.readers.map(({ key }) => [key, layer])),
    );
    const readers = this.#layers.flatMap((layer) => layer.readers);
    const inner = readers.filter(({ scope }) => scope !== main);
    const values = inner.map(({ scope, input }) => ({ scope, name: input.value }));
    const { bytes: observed, shown } = showInnerValues(bytes, { model, main, values });
    this.model = observed;
    this.#shown = new Map(
      inner.flatMap((reader, i) => {
        const found = shown[i];
        return found === undefined ? [] : [[reader, found] as const];
      }),
    );
    const ofMain = readers.flatMap(({ scope, input }) => (scope === main ? input.value : []));
    const ofInner = [...this.#shown.values()].flatMap(({ elements, shapes }) => [elements, shapes]);
    this.values = [...new Set([...ofMain, ...ofInner])];
  }

  /** Adds the values of one of so many samples, by their names. Those of the main graph that are no float32 are left out. */
  add(
    values: Readonly<Record<string, Pick<HostTensor, 'dtype' | 'shape' | 'data'>>>,
    samples: number,
  ): void {
    for (const layer of this.#layers) {
      for (const reader of layer.readers) {
        const given = this.#given(reader, values);
        const wanted = Math.ceil((VECTORS_PER_ELEMENT * layer.depth) / samples / given.length);
        for (const value of given) this.#addValue(layer, { input: reader.input, value, wanted });
      }
    }
  }

  /** How a row of a layer's weights is rounded, by its `layerKey`; undefined where samples say nothing of it. */
  feedback(layer: string, group = 0): ErrorFeedback | undefined {
    const found = this.#ofNodes.get(layer);
    const moments = found?.moments[group];
    if (found === undefined || moments === undefined) return undefined;
    found.feedback[group] ??= errorFeedback(moments, found);
    return found.feedback[group];
  }

  /**
   * Returns true if samples reached the weights of a layer; undefined where samples are not used
   * for weights of this kind.
   */
  reached(layer: string): boolean | undefined {
    const found = this.#ofNodes.get(layer);
    return found && found.count > 0;
  }

  /** Sets of rows of a layer's weights that read different inputs. */
  groups(layer: string): number {
    return this.#ofNodes.get(layer)?.moments.length ?? 1;
  }

  /**
   * The inputs of a node in a sample: one, or, in an inner graph, one for each time that the graph
   * ran.
   */
  #given(reader: Reader, values: Values): readonly FloatValue[] {
    const shown = this.#shown.get(reader);
    if (shown === undefined) {
      const value = reader.scope.owner === undefined ? values[reader.input.value] : undefined;
      if (value?.dtype !== 'float32') return [];
      return [{ shape: value.shape, data: value.data as Float32Array }];
    }
    const [elements, shapes] = [values[shown.elements], values[shown.shapes]];
    if (elements === undefined || shapes === undefined) return [];
    return readShownValue(elements.data as Float32Array, shapes.data as BigInt64Array);
  }

  #addValue(
    layer: Layer,
    { input, value, wanted }: { input: LayerInput; value: FloatValue; wanted: number },
  ): void {
    const count = input.count(value.shape);
    const taken = Math.min(count, Math.max(LEAST_VECTORS, wanted));
    layer.count += taken;
    for (const [group, sums] of layer.moments.entries()) {
      const vector = new Float64Array(input.depth);
      for (let i = 0; i < taken; i++) {
        const index = taken === count ? i : Math.floor(this.#random() * count);
        input.read(value, { group, index }, vector);
        addSquare(sums, vector);
      }
    }
  }
}

function layersOf(main: GraphScope): readonly Layer[] {
  const layers: Layer[] = [];
  let byteLength = 0;
  for (const readers of readersOf(main).toSorted(
    ([a], [b]) => (a?.input.depth ?? 0) - (b?.input.depth ?? 0),
  )) {
    const [{ depth, groups }] = readers.map(({ input }) => input) as [LayerInput];
    const length = (depth * (depth + 1)) / 2;
    byteLength += groups * length * Float64Array.BYTES_PER_ELEMENT;
    if (byteLength > MOST_BYTES) break;
    const moments = Array.from({ length: groups }, () => new Float64Array(length));
    layers.push({ depth, readers, moments, count: 0, feedback: [] });
  }
  return layers;
}

/** The nodes of a model with weights, together where they read the same rows of the same tensor. */
function readersOf(main: GraphScope): (readonly Reader[])[] {
  const ofWeights = new Map<TensorProto, Map<string, Reader[]>>();
  for (const scope of main.all()) {
    for (const node of scope.graph.node) {
      const input = layerInput(node, scope);
      if (input === undefined) continue;
      const rows = `${input.rowAxis} ${input.depth} ${input.groups}`;
      const known = ofWeights.get(input.weights) ?? new Map<string, Reader[]>();
      const readers = known.get(rows) ?? [];
      readers.push({ key: layerKey(node, scope), input, scope });
      ofWeights.set(input.weights, known.set(rows, readers));
    }
  }
  return [...ofWeights.values()].flatMap((known) => [...known.values()]);
}

function addSquare(sums: Float64Array, vector: Float64Array): void {
  for (let i = 0, at = 0; i < vector.length; i++) {
    const value = vector[i] ?? 0;
    if (value === 0) at += i + 1;
    else for (let j = 0; j <= i; j++, at++) sums[at] = (sums[at] ?? 0) + value * (vector[j] ?? 0);
  }
}
