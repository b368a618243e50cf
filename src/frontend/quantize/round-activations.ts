import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { canonicalDomain } from '../onnx/model/operator-sets.ts';
import type { NodeProto } from '../onnx/protobuf/schema.ts';
import { floatWeights } from './float-weights.ts';
import type { GraphScope } from './graph-scope.ts';
import type { NodeDraft } from './model-edits.ts';
import { nodeName } from './quantized-layer.ts';
import type { WeightCoder } from './weight-coder.ts';

/**
 * Puts `QuantizeLinear` and `DequantizeLinear` behind the values that rounded convolutions of the main graph read and
 * give, wherever a range is known: uint8 with one scale. Behind a convolution a `Relu` comes first, and outputs of the
 * model stay as they are. All nodes read the rounded value, but those that read an input of the model and are no
 * convolution. The names of the values, also of those whose range is not known.
 */
export function roundActivations(
  coder: WeightCoder,
  rounded: ReadonlySet<string>,
): readonly string[] {
  if (coder.opset < INTEGER_CONVOLUTIONS) return [];
  const scope = coder.edits.main;
  const convolutions = scope.graph.node.filter(
    (node) =>
      node.opType === 'Conv' &&
      isOnnx(node) &&
      rounded.has(nodeName(node)) &&
      scope.constantOf(node.input[1] ?? '')?.tensor.dataType === FLOAT32,
  );
  const outputs = new Set(scope.graph.output.map(({ name }) => name));
  const names = new Set<string>();
  for (const node of convolutions) {
    const [input = ''] = node.input;
    if (scope.constantOf(input) === undefined) names.add(input);
    names.add(valueBehind(node, scope));
  }
  for (const name of outputs) names.delete(name ?? '');
  for (const name of names) {
    const range = coder.options.ranges.get(name);
    if (range !== undefined) roundValue(name, { range, coder, convolutions });
  }
  for (const node of convolutions) roundBias(node, coder);
  return [...names];
}

/**
 * The bias of a convolution whose input has a range as int32, in steps of the input's times the weights', as kernels of
 * integers add it. Where such a code would be too large the bias stays float.
 */
function roundBias(node: NodeProto, coder: WeightCoder): void {
  const { edits, options } = coder;
  const { main: scope } = edits;
  const [input = '', weights = '', bias = ''] = node.input;
  const range = options.ranges.get(input);
  const [found, foundBias] = [scope.constantOf(weights), scope.constantOf(bias)];
  if (range === undefined || found === undefined || foundBias === undefined) return;
  const coded = coder.channels(found, { node, scope, axis: 0 });
  const floats = floatWeights(foundBias, options.externalData);
  if (typeof coded === 'string' || typeof floats === 'string') return;
  const step = scaleOf(range).scale;
  const scales = coded.scales.map((scale) => Math.fround(scale * step));
  const codes = Array.from(floats.values, (value, i) => Math.round(value / (scales[i] ?? 1)));
  if (codes.some((code) => Math.abs(code) >= 2 ** 31)) return;
  const [codesName, scalesName, output] = ['int32', 'scales', 'dequantized'].map((part) =>
    edits.uniqueName(`${nodeName(node)}_bias_${part}`),
  ) as [string, string, string];
  edits.addInitializer(scope, codesName, HostTensor.from('int32', [codes.length], codes));
  edits.addInitializer(scope, scalesName, new HostTensor('float32', [codes.length], scales));
  const inputs = [codesName, scalesName];
  const draft = coder.dequantizeNode({ inputs, output, axis: 0, dtype: 'float32' });
  const written = edits.writtenOf(node).flatMap((each) => {
    if (each.base !== node) return [each];
    const [x = '', w = ''] = each.draft.input ?? node.input;
    return [{ draft }, { ...each, draft: { ...each.draft, input: [x, w, output] } }];
  });
  edits.replace(node, written);
  edits.release(bias);
}

/** In older operator sets onnxruntime makes nodes of what it finds here that these do not have: QLinearConv and Round. */
const INTEGER_CONVOLUTIONS = 11;

/** The element type of ONNX; scales of float16 have less precision than activations need. */
const FLOAT32 = 1;

const isOnnx = ({ domain }: NodeProto): boolean => canonicalDomain(domain) === '';

/** The output of a convolution, or of the `Relu` that alone reads it. */
function valueBehind({ output: [name = ''] }: NodeProto, { graph }: GraphScope): string {
  const readers = graph.node.filter(({ input }) => input.includes(name));
  const [reader] = readers;
  const isRelu = readers.length === 1 && reader?.opType === 'Relu' && isOnnx(reader);
  return isRelu && !graph.output.some((output) => output.name === name)
    ? (reader.output[0] ?? name)
    : name;
}

interface Rounding {
  readonly range: readonly [least: number, most: number];
  readonly coder: WeightCoder;
  readonly convolutions: readonly NodeProto[];
}

function roundValue(name: string, { range, coder, convolutions }: Rounding): void {
  const { edits } = coder;
  const { main: scope } = edits;
  const producer = scope.producerOf(name);
  const [float, result] =
    producer === undefined
      ? [name, edits.uniqueName(`${name}_dequantized`)]
      : [edits.uniqueName(`${name}_float`), name];
  edits.insertAfter(producer ?? scope.graph, nodesFor(name, { range, coder, float, result }));
  if (producer !== undefined) {
    edits.renameOutput(name, float);
    return;
  }
  for (const node of convolutions) {
    if (node.input[0] !== name) continue;
    const written = edits.writtenOf(node).map((each) => {
      if (each.base !== node) return each;
      const [, ...others] = each.draft.input ?? node.input;
      return { ...each, draft: { ...each.draft, input: [result, ...others] } };
    });
    edits.replace(node, written);
  }
}

interface Between {
  readonly range: readonly [least: number, most: number];
  readonly coder: WeightCoder;
  readonly float: string;
  readonly result: string;
}

/** The step and the zero point of uint8. The range is widened to hold 0, which stays 0. */
function scaleOf([from, to]: readonly [number, number]): { scale: number; zero: number } {
  const [least, most] = [Math.min(0, from), Math.max(0, to)];
  const scale = Math.fround((most - least) / 255) || 1;
  return { scale, zero: Math.max(0, Math.min(255, Math.round(-least / scale))) };
}

/** Both nodes, from a value to the rounded one. */
function nodesFor(name: string, { range, coder, float, result }: Between): readonly NodeDraft[] {
  const { edits } = coder;
  const { scale, zero } = scaleOf(range);
  const [codes, scaleName, zeroName] = ['codes', 'scale', 'zero'].map((part) =>
    edits.uniqueName(`${name}_${part}`),
  ) as [string, string, string];
  edits.addInitializer(edits.main, scaleName, HostTensor.from('float32', [], [scale]));
  edits.addInitializer(edits.main, zeroName, HostTensor.from('uint8', [], [zero]));
  const quantize = {
    name: edits.uniqueName(`${name}_QuantizeLinear`),
    opType: 'QuantizeLinear',
    domain: coder.quantizationDomain('float32'),
    input: [float, scaleName, zeroName],
    output: [codes],
  };
  const inputs = [codes, scaleName, zeroName];
  return [quantize, coder.dequantizeNode({ inputs, output: result, dtype: 'float32' })];
}
