import { UnsupportedError } from '../../core/errors.ts';
import { float16ToNumber, numberToFloat16 } from '../../core/tensor/float16.ts';
import type { GraphProto, NodeProto } from '../onnx/protobuf/schema.ts';
import { float16Places, FLOAT16, FLOAT32, floatValues, placesOf } from './float-values.ts';
import { floatTensor, floatWeights, relativeError } from './float-weights.ts';
import type { FoundConstant, GraphScope } from './graph-scope.ts';
import { intAttribute, type ModelEdits } from './model-edits.ts';
import type { CheckedOptions } from './quantize-options.ts';
import { type KeptNode, nodeName, type QuantizedLayer } from './quantized-layer.ts';

/** The nodes of a model by what the conversion does with them. */
interface Float16Found {
  readonly layers: readonly QuantizedLayer[];
  readonly kept: readonly KeptNode[];
  readonly others: Readonly<Record<string, number>>;
  /** The values that may become float16. */
  readonly activations: readonly string[];
}

/** The largest number of float16. */
const LARGEST = 65_504;
/** Inputs other than the samples may reach further than these. */
const MARGIN = 2;
/** The least relative error of constants that float16 is too coarse for, such as an epsilon that becomes 0. */
const COARSE = 0.01;
/** Cast names its type by a text in older operator sets. */
const CASTS_BY_NUMBER = 6;
/** Tensors of fewer elements are no weights to speak of. */
const FEW_ELEMENTS = 256;

/**
 * Computes in float16 what computes in float32, in the main graph: `Cast` stands where values of both types meet, and inputs and
 * outputs of the model keep their types. Nodes stay in float32 that have no form in float16, whose constants float16 does not
 * hold, or whose values came near its limit (`ranges`). With `weightsOnly` only constants change, each behind a `Cast`.
 *
 * Throws UnsupportedError for operator sets before 6.
 */
export function convertToFloat16(
  edits: ModelEdits,
  options: CheckedOptions,
  opset: number,
): Float16Found {
  if (opset < CASTS_BY_NUMBER) {
    throw new UnsupportedError({
      where: 'quantize to float16',
      got: `a model of operator set ${opset}`,
      expected: `${CASTS_BY_NUMBER} or later`,
      remedy: 'Convert the model to a later operator set first.',
    });
  }
  const constants = new Float16Constants(edits, options);
  return options.weightsOnly
    ? convertWeights(edits, options, constants)
    : new Float16Graph(edits, options, constants).convert();
}

/** Weights in float16 that nodes read through `Cast` to float32. */
function convertWeights(
  edits: ModelEdits,
  { keep }: CheckedOptions,
  constants: Float16Constants,
): Float16Found {
  const layers: QuantizedLayer[] = [];
  const kept: KeptNode[] = [];
  const casts = new Map<FoundConstant['tensor'], string>();
  const others = new Map<string, number>();
  for (const scope of edits.main.all()) {
    for (const node of scope.graph.node) {
      const [name, operator] = [nodeName(node), node.opType ?? ''];
      const weights = node.input.flatMap((input, at) => {
        const found = input === '' ? undefined : storedConstant(scope, input);
        const isLarge = (found?.shape.reduce((a, b) => a * b, 1) ?? 0) >= FEW_ELEMENTS;
        return found?.tensor.dataType === FLOAT32 && isLarge ? [{ input, at, found }] : [];
      });
      const refused = weights.map(({ found }) => constants.reasonAgainst(found)).find(Boolean);
      if (weights.length === 0) {
        others.set(operator, (others.get(operator) ?? 0) + 1);
        continue;
      }
      if (keep.has(name) || refused !== undefined) {
        kept.push({ node: name, operator, reason: refused ?? ASKED });
        continue;
      }
      const input = [...node.input];
      for (const { input: read, at, found } of weights) {
        input[at] = casts.get(found.tensor) ?? castOf(edits, constants.add(read, found), found);
        casts.set(found.tensor, input[at] ?? '');
        edits.release(read);
      }
      edits.replace(node, [{ base: node, draft: { input } }]);
      layers.push({
        node: name,
        output: node.output.find((each) => each !== '') ?? '',
        operator,
        becomes: 'weights of float16',
        weightError: Math.max(...weights.map(({ found }) => constants.errorOf(found))),
        isInner: scope !== edits.main,
      });
    }
  }
  return { layers, kept, others: Object.fromEntries(others), activations: [] };
}

function castOf(edits: ModelEdits, name: string, { scope }: FoundConstant): string {
  const output = edits.uniqueName(`${name}_float32`);
  edits.insertAfter(scope.graph, [castNode(edits, { from: name, to: output, type: FLOAT32 })]);
  return output;
}

interface CastPlace {
  readonly from: string;
  readonly to: string;
  readonly type: number;
}

const castNode = (edits: ModelEdits, { from, to, type }: CastPlace) => ({
  name: edits.uniqueName(`${to}_Cast`),
  opType: 'Cast',
  input: [from],
  output: [to],
  attribute: [intAttribute('to', type)],
});

const ASKED = 'it was asked to';

/** A tensor that a graph stores under a name, itself. */
function storedConstant(scope: GraphScope, name: string): FoundConstant | undefined {
  const producer = scope.producerOf(name);
  return producer === undefined || producer.opType === 'Constant'
    ? scope.constantOf(name)
    : undefined;
}

/** Constants in float16, each added once. */
class Float16Constants {
  readonly #edits: ModelEdits;
  readonly #options: CheckedOptions;
  readonly #errors = new Map<object, number | string>();
  readonly #added = new Map<object, string>();

  constructor(edits: ModelEdits, options: CheckedOptions) {
    this.#edits = edits;
    this.#options = options;
  }

  /** Why a constant has to stay in float32, if it has to. */
  reasonAgainst(found: FoundConstant): string | undefined {
    const error = this.#measured(found);
    return typeof error === 'string' ? error : undefined;
  }

  /** How far a constant is moved, relative to it. */
  errorOf(found: FoundConstant): number {
    const error = this.#measured(found);
    return typeof error === 'string' ? 0 : error;
  }

  add(name: string, found: FoundConstant): string {
    const known = this.#added.get(found.tensor);
    if (known !== undefined) return known;
    const weights = floatWeights(found, this.#options.externalData);
    const added = this.#edits.uniqueName(`${name}_float16`);
    this.#added.set(found.tensor, added);
    if (typeof weights !== 'string') {
      const tensor = floatTensor('float16', weights.shape, weights.values);
      this.#edits.addInitializer(found.scope, added, tensor);
    }
    return added;
  }

  #measured(found: FoundConstant): number | string {
    const known = this.#errors.get(found.tensor);
    if (known !== undefined) return known;
    const measured = this.#measure(found);
    this.#errors.set(found.tensor, measured);
    return measured;
  }

  #measure(found: FoundConstant): number | string {
    const weights = floatWeights(found, this.#options.externalData);
    if (typeof weights === 'string') return weights;
    const { values } = weights;
    let most = 0;
    for (const value of values) most = Math.max(most, Math.abs(value));
    if (most > LARGEST)
      return `its constants reach ${numeral(most)}, and float16 ends at ${LARGEST}`;
    const halves = values.map((value) => float16ToNumber(numberToFloat16(value)));
    const error = relativeError(values, halves);
    return error < COARSE ? error : 'its constants are too small for float16';
  }
}

const numeral = (value: number): string => String(Number(value.toPrecision(3)));

/** The main graph of a model on its way to float16. */
class Float16Graph {
  readonly #edits: ModelEdits;
  readonly #options: CheckedOptions;
  readonly #constants: Float16Constants;
  readonly #scope: GraphScope;
  /** Values of float32 in the model. */
  readonly #floats: ReadonlySet<string>;
  /** Values that keep name and type: outputs of the model, and what inner graphs read. */
  readonly #fixed: ReadonlySet<string>;
  /** The nodes that compute in float16. */
  readonly #converted = new Set<NodeProto>();
  /** Names of values converted to the other type. */
  readonly #casts = new Map<string, string>();

  constructor(edits: ModelEdits, options: CheckedOptions, constants: Float16Constants) {
    this.#edits = edits;
    this.#options = options;
    this.#constants = constants;
    this.#scope = edits.main;
    this.#floats = floatValues(edits.main);
    const inner = edits.main.all().filter((scope) => scope !== edits.main);
    const read = inner.flatMap(({ graph: { node, output } }) => [
      ...node.flatMap(({ input }) => input),
      ...output.map(({ name = '' }) => name),
    ]);
    const given = edits.main.graph.output.map(({ name = '' }) => name);
    this.#fixed = new Set([...given, ...read]);
  }

  convert(): Float16Found {
    const layers: QuantizedLayer[] = [];
    const kept: KeptNode[] = [];
    const others = new Map<string, number>();
    const activations = new Set<string>();
    for (const scope of this.#scope.all()) {
      for (const node of scope.graph.node) {
        const operator = node.opType ?? '';
        const reason = scope === this.#scope ? this.#reasonAgainst(node, activations) : INNER;
        if (reason === '') others.set(operator, (others.get(operator) ?? 0) + 1);
        else if (reason === undefined) {
          this.#converted.add(node);
          layers.push(this.#layerOf(node));
        } else kept.push({ node: nodeName(node), operator, reason });
      }
    }
    for (const node of this.#scope.graph.node) this.#rewrite(node);
    return { layers, kept, others: Object.fromEntries(others), activations: [...activations] };
  }

  /** Why a node stays in float32, empty where it computes none; undefined: it need not. */
  #reasonAgainst(node: NodeProto, activations: Set<string>): string | undefined {
    if (node.opType === 'Constant') return '';
    const places = float16Places(node);
    if (places === undefined) {
      const reads = node.input.some((name) => this.#floats.has(name));
      return reads ? 'there is no form of it in float16' : '';
    }
    const inputs = this.#halvesIn(node);
    if (inputs.length === 0) return '';
    const outputs = this.#halvesOut(node);
    const computed = [...inputs, ...outputs].filter(
      (name) => storedConstant(this.#scope, name) === undefined,
    );
    for (const name of computed) activations.add(name);
    if (this.#options.keep.has(nodeName(node))) return ASKED;
    for (const name of inputs) {
      const found = storedConstant(this.#scope, name);
      const reason = found && this.#constants.reasonAgainst(found);
      if (reason !== undefined) return reason;
    }
    const ends = computed.flatMap((name) => this.#options.ranges.get(name) ?? []);
    const most = Math.max(0, ...ends.map(Math.abs));
    return most * MARGIN > LARGEST
      ? `its values reach ${numeral(most)}, and float16 ends at ${LARGEST}`
      : undefined;
  }

  #halvesIn(node: NodeProto): readonly string[] {
    const at = placesOf(node.input, float16Places(node)?.inputs);
    return at.map((i) => node.input[i] ?? '').filter((name) => this.#floats.has(name));
  }

  #halvesOut(node: NodeProto): readonly string[] {
    const at = placesOf(node.output, float16Places(node)?.outputs);
    return at.map((i) => node.output[i] ?? '').filter((name) => this.#floats.has(name));
  }

  #layerOf(node: NodeProto): QuantizedLayer {
    const errors = this.#halvesIn(node).map((name) => {
      const found = storedConstant(this.#scope, name);
      return found === undefined ? 0 : this.#constants.errorOf(found);
    });
    return {
      node: nodeName(node),
      output: node.output.find((each) => each !== '') ?? '',
      operator: node.opType ?? '',
      becomes: 'float16',
      weightError: Math.max(0, ...errors),
      isInner: false,
    };
  }

  /** Values of float16 keep their names, but those that are fixed. */
  #rewrite(node: NodeProto): void {
    const isConverted = this.#converted.has(node);
    const halves = new Set(isConverted ? this.#halvesIn(node) : []);
    const places = isConverted ? placesOf(node.input, float16Places(node)?.inputs) : [];
    const input = node.input.map((name, i) =>
      halves.has(name) && places.includes(i) ? this.#asFloat16(name) : this.#asFloat32(name),
    );
    const given = new Set(isConverted ? this.#halvesOut(node) : []);
    const output = node.output.map((name) =>
      given.has(name) && this.#fixed.has(name) ? this.#castTo(FLOAT32, name) : name,
    );
    for (const name of given) if (!this.#fixed.has(name)) this.#edits.forgetType(name);
    if (isConverted || input.some((name, i) => name !== node.input[i])) {
      this.#edits.replace(node, [{ base: node, draft: { input, output } }]);
    }
  }

  #isHalf(name: string): boolean {
    const producer = this.#scope.producerOf(name);
    return (
      producer !== undefined &&
      this.#converted.has(producer) &&
      this.#halvesOut(producer).includes(name)
    );
  }

  #asFloat16(name: string): string {
    const found = storedConstant(this.#scope, name);
    if (found !== undefined) {
      this.#edits.release(name);
      return this.#constants.add(name, found);
    }
    if (!this.#isHalf(name)) return this.#castTo(FLOAT16, name);
    return this.#fixed.has(name) ? this.#castTo(FLOAT32, name) : name;
  }

  #asFloat32(name: string): string {
    return this.#isHalf(name) && !this.#fixed.has(name) ? this.#castTo(FLOAT32, name) : name;
  }

  /**
   * The other name of a value, whose `Cast` stands behind the node that gives it. A value of a fixed name is float32 under
   * it, whatever its node gives, and float16 under the other one.
   */
  #castTo(type: typeof FLOAT16 | typeof FLOAT32, name: string): string {
    const known = this.#casts.get(name);
    if (known !== undefined) return known;
    const isGivenOtherwise = type === FLOAT32 && this.#fixed.has(name);
    const isHalf = type === FLOAT16 || isGivenOtherwise;
    const other = this.#edits.uniqueName(`${name}_${isHalf ? 'float16' : 'float32'}`);
    this.#casts.set(name, other);
    const [from, to] = isGivenOtherwise ? [other, name] : [name, other];
    const place: NodeProto | GraphProto = this.#scope.producerOf(name) ?? this.#scope.graph;
    this.#edits.insertAfter(place, [castNode(this.#edits, { from, to, type })]);
    return other;
  }
}

const INNER = 'it lies in a branch or the body of a loop';
