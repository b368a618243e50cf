import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { parseJsonObject } from '../../core/bytes/sniff.ts';

/** A node of a TensorFlow graph. */
export interface GraphNode {
  readonly name: string;
  readonly op: string;
  readonly input: readonly string[];
  readonly attr: Readonly<Record<string, unknown>>;
}

/** A function of the graph's library. */
export interface GraphFunction {
  readonly name: string;
  readonly inputs: readonly string[];
  /** The value of each output, by its name and in order. */
  readonly outputs: readonly (readonly [name: string, value: string])[];
  readonly nodes: readonly GraphNode[];
}

/** A tensor in the files beside the model. */
export interface Weight {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  /** How its elements are stored, if not as they are. */
  readonly quantization: Quantization | undefined;
  /** The group of files, and the place in them. */
  readonly group: number;
  readonly byteOffset: number;
  readonly byteLength: number;
}

interface Quantization {
  readonly dtype: string;
  readonly scale: number;
  readonly min: number;
}

/** A TensorFlow.js graph model, as its `model.json` says it. */
export interface GraphModel {
  readonly nodes: readonly GraphNode[];
  readonly functions: ReadonlyMap<string, GraphFunction>;
  readonly weights: readonly Weight[];
  /** The paths of each group, and its bytes in all. */
  readonly groups: readonly { readonly paths: readonly string[]; readonly byteLength: number }[];
  /** Values by the names of the signature; empty where the model has none. */
  readonly inputs: ReadonlyMap<string, SignatureTensor>;
  readonly outputs: ReadonlyMap<string, SignatureTensor>;
  readonly producer: string;
}

interface SignatureTensor {
  readonly name: string;
  readonly shape: readonly number[] | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const WHERE = 'TensorFlow.js model';

/** Reads `model.json`. Throws FormatError for what is none, UnsupportedError for a layers model. */
export function readGraphModel(bytes: Uint8Array): GraphModel {
  const json = parseJsonObject(WHERE, bytes);
  const topology = object(json['modelTopology'], 'modelTopology');
  if (json['format'] === 'layers-model' || topology['model_config'] !== undefined) {
    throw new UnsupportedError({
      where: WHERE,
      got: 'a layers model',
      expected: 'a graph model',
      remedy:
        'tensorflowjs_converter --input_format=tfjs_layers_model --output_format=tfjs_graph_model makes one of it.',
    });
  }
  if (json['modelInitializer'] !== undefined && nodesOf(json['modelInitializer']).length > 0) {
    throw new UnsupportedError({
      where: `${WHERE}, modelInitializer`,
      got: `${nodesOf(json['modelInitializer']).length} nodes, which fill tables`,
      expected: 'a model without hash tables',
      remedy: 'Look the entries up outside of the model.',
    });
  }
  const signature = object(json['signature'] ?? json['userDefinedMetadata'], 'signature', {});
  const tensors = object(signature['signature'] ?? signature, 'signature', {});
  return {
    nodes: nodesOf(topology),
    functions: functionsOf(topology),
    ...weightsOf(list(json['weightsManifest'], 'weightsManifest')),
    inputs: signatureOf(tensors['inputs']),
    outputs: signatureOf(tensors['outputs']),
    producer: text(json['generatedBy'] ?? '', 'generatedBy'),
  };
}

function nodesOf(graph: unknown): GraphNode[] {
  const { node = [] } = object(graph, 'modelTopology');
  return list(node, 'modelTopology.node').map(readNode);
}

function readNode(given: unknown, index: number): GraphNode {
  const where = `node ${index}`;
  const { name, op, input = [], attr = {} } = object(given, where);
  return {
    name: text(name, `${where}, name`),
    op: text(op, `${where}, op`),
    input: list(input, `${where}, input`).map((each) => text(each, `${where}, input`)),
    attr: object(attr, `${where}, attr`),
  };
}

function functionsOf({ library }: Fields): Map<string, GraphFunction> {
  const { function: functions = [] } = object(library, 'library', {});
  const read = list(functions, 'library.function').map((given, index) => {
    const where = `function ${index}`;
    const { signature, nodeDef = [], ret = {} } = object(given, where);
    const { name, inputArg = [], outputArg = [] } = object(signature, `${where}, signature`);
    const names = (args: unknown) =>
      list(args, `${where}, arguments`).map((arg) => text(object(arg, where)['name'], where));
    const returned = object(ret, `${where}, ret`);
    return {
      name: text(name, `${where}, name`),
      inputs: names(inputArg),
      outputs: names(outputArg).map((output) => [output, text(returned[output], where)] as const),
      nodes: list(nodeDef, `${where}, nodeDef`).map(readNode),
    };
  });
  return new Map(read.map((fn) => [fn.name, fn]));
}

const BYTE_LENGTHS: Readonly<Record<string, number>> = {
  float32: 4,
  int32: 4,
  bool: 1,
  float16: 2,
  uint8: 1,
  uint16: 2,
};

function weightsOf(manifest: readonly unknown[]): Pick<GraphModel, 'weights' | 'groups'> {
  const weights: Weight[] = [];
  const groups = manifest.map((given, group) => {
    const where = `group ${group} of weights`;
    const entry = object(given, where);
    let byteOffset = 0;
    for (const each of list(entry['weights'], where)) {
      const weight = readWeight(each, { group, byteOffset });
      weights.push(weight);
      byteOffset += weight.byteLength;
    }
    const paths = list(entry['paths'], where).map((path) => checkedPath(text(path, where)));
    return { paths, byteLength: byteOffset };
  });
  return { weights, groups };
}

function readWeight(given: unknown, place: { group: number; byteOffset: number }): Weight {
  const { name: written, shape, dtype: type, quantization: stored } = object(given, 'a weight');
  const name = text(written, 'a weight, name');
  const where = `weight "${name}"`;
  const sizes = list(shape, `${where}, shape`).map(Number);
  const count = sizes.reduce((product, size) => product * size, 1);
  if (!sizes.every((size) => Number.isSafeInteger(size) && size >= 0) || count > 2 ** 40) {
    throw new FormatError({ where, got: `shape (${sizes.join(', ')})`, expected: 'sizes from 0' });
  }
  const dtype = text(type, `${where}, dtype`);
  const quantization = stored === undefined ? undefined : readQuantization(stored, where);
  const each = BYTE_LENGTHS[quantization?.dtype ?? dtype];
  if (each === undefined) {
    throw new UnsupportedError({
      where,
      got: `elements of dtype ${quantization?.dtype ?? dtype}`,
      expected: Object.keys(BYTE_LENGTHS).join(', '),
    });
  }
  return { ...place, name, shape: sizes, dtype, quantization, byteLength: count * each };
}

function readQuantization(given: unknown, where: string): Quantization {
  const { dtype, scale = 1, min = 0 } = object(given, `${where}, quantization`);
  return { dtype: text(dtype, `${where}, quantization`), scale: Number(scale), min: Number(min) };
}

function signatureOf(given: unknown): Map<string, SignatureTensor> {
  const entries = Object.entries(object(given, 'signature', {})).map(
    ([key, tensor]): [string, SignatureTensor] => {
      const { name, tensorShape } = object(tensor, `signature, ${key}`);
      return [key, { name: text(name ?? key, key), shape: shapeOf(tensorShape) }];
    },
  );
  return new Map(entries);
}

/** Sizes, -1 for those that callers choose; undefined where not even the rank is told. */
export function shapeOf(given: unknown): readonly number[] | undefined {
  const { dim, unknownRank } = object(given, 'shape', {});
  if (unknownRank === true) return undefined;
  return list(dim ?? [], 'shape').map((each) => Number(object(each, 'shape')['size'] ?? -1));
}

/** Files beside the model and in folders below it. */
function checkedPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '.');
  const isInside = !/[\\\0:?#]/.test(path) && parts.every((part) => part !== '' && part !== '..');
  if (isInside && parts.length > 0) return parts.join('/');
  throw new FormatError({
    where: WHERE,
    got: `weights in ${JSON.stringify(path)}`,
    expected: 'a file in the folder of the model, without ".."',
  });
}

export function object(given: unknown, where: string, otherwise?: Fields): Fields {
  if (given === undefined && otherwise !== undefined) return otherwise;
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as Fields;
  throw malformed(where, given, 'an object');
}

export function list(given: unknown, where: string): readonly unknown[] {
  if (Array.isArray(given)) return given;
  throw malformed(where, given, 'a list');
}

export function text(given: unknown, where: string): string {
  if (typeof given === 'string') return given;
  throw malformed(where, given, 'a string');
}

function malformed(where: string, given: unknown, expected: string): FormatError {
  const got = given === undefined ? 'nothing' : (JSON.stringify(given)?.slice(0, 60) ?? 'no value');
  return new FormatError({ where: `${WHERE}, ${where}`, got, expected });
}
