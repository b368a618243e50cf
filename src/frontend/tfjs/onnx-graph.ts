import { FormatError } from '../../core/errors.ts';
import type { ExternalDataReader } from '../onnx/protobuf/external-data.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import type {
  FunctionProto,
  GraphProto,
  ModelProto,
  NodeProto,
  TensorProto,
} from '../onnx/protobuf/schema.ts';
import { FUNCTIONS, structuredFlow } from './control-flow.ts';
import { type GraphFunction, type GraphModel, type GraphNode, shapeOf } from './graph-model.ts';
import { intsOf, listsWithShapes } from './list-shapes.ts';
import { elementType, nodeNameOf, valueName } from './node-protos.ts';
import { attributeOf, OPSET } from '../foreign/onnx-attribute.ts';
import { graphOf, nodeOf, TENSORFLOW, tensorOf, valueOf } from './protos.ts';
import { readWeights, weightTensor } from './read-weights.ts';

/** The model as one of ONNX, whose operators are those of TensorFlow. */
export function onnxModel(model: GraphModel, read: ExternalDataReader | undefined): ModelProto {
  const outputs = outputsOf(model);
  const byName = new Map(model.nodes.map((node) => [node.name, node]));
  const nodes = neededBy([...outputs.values()], byName);
  const placeholders = model.nodes.filter(
    ({ op }) => op.startsWith('Placeholder') && op !== 'PlaceholderWithDefault',
  );
  const bytesOf = readWeights(model, read);
  const weights = new Map(model.weights.map((weight) => [weight.name, weight]));
  const constantOf = (node: GraphNode): TensorProto => {
    const weight = weights.get(node.name);
    return weight ? weightTensor(weight, bytesOf(weight)) : emptyTensor(node);
  };
  const sizesOf = (name: string): readonly number[] | undefined => {
    const weight = weights.get(name);
    return weight?.dtype === 'int32' ? intsOf(bytesOf(weight)) : undefined;
  };
  const initializer: TensorProto[] = [];
  const casts: NodeProto[] = [];
  const computed: GraphNode[] = [];
  for (const node of nodes) {
    if (placeholders.includes(node)) continue;
    if (node.op !== 'Const') {
      computed.push(node);
      continue;
    }
    const tensor = constantOf(node);
    if (tensor.dataType !== 10) {
      initializer.push(tensor);
      continue;
    }
    const stored = `${node.name}/float16`;
    initializer.push({ ...tensor, name: stored });
    const attribute = [attributeOf('to', 1)];
    casts.push(
      nodeOf({ opType: 'Cast', name: node.name, input: [stored], output: [node.name], attribute }),
    );
  }
  const values = [...outputs.values()];
  const node = [
    ...casts,
    ...structuredFlow(listsWithShapes(computed, sizesOf), model.functions, values),
  ];
  const inputs = placeholders.map((each) => inputOf(each, model));
  for (const [i, { name = '' }] of inputs.entries()) {
    node.push(...renamed(name, placeholders[i]?.name ?? name));
  }
  for (const [name, value] of outputs) node.push(...renamed(value, name));
  const output = [...outputs.keys()].map((name) => valueOf(name));
  const graph = graphOf('', { node, initializer, input: inputs, output });
  const functions = [...model.functions.values()].map((fn) =>
    functionOf(fn, model.functions, constantOf),
  );
  return modelOf(graph, functions, model.producer);
}

/** A function, whose constants are nodes of it. */
function functionOf(
  { name, inputs, outputs, nodes }: GraphFunction,
  functions: GraphModel['functions'],
  constantOf: (node: GraphNode) => TensorProto,
): FunctionProto {
  const plain = nodes.map((node) => ({ ...node, input: node.input.map(plainValue) }));
  const values = outputs.map(([, value]) => plainValue(value));
  const constants = plain.flatMap((node) => {
    if (node.op !== 'Const') return [];
    const stored = nodeOf({
      opType: 'Constant',
      name: node.name,
      input: [],
      output: [`${node.name}/stored`],
      attribute: [{ ...attributeOf('value', 0), type: 4, t: constantOf(node) }],
    });
    const to = attributeOf(
      'to',
      stored.attribute[0]?.t?.dataType === 10 ? 1 : (stored.attribute[0]?.t?.dataType ?? 1),
    );
    const typed = { input: stored.output, output: [node.name], attribute: [to] };
    return [stored, nodeOf({ opType: 'Cast', name: node.name, ...typed })];
  });
  const computed = plain.filter(({ op }) => op !== 'Const');
  return {
    ...readMessage('FunctionProto', new Uint8Array()),
    name,
    domain: FUNCTIONS,
    input: inputs,
    output: values,
    node: [...constants, ...structuredFlow(computed, functions, values)],
    opsetImport: OPERATOR_SETS,
  };
}

/** Second outputs by their names; all others have a number among those of one name. */
const SECOND = /^(indices|valid_outputs|selected_scores|batch_mean|backprop)$/;

/** `node:output:0` of functions as a value of a graph. */
function plainValue(value: string): string {
  const [, name, output = '', index = '0'] = /^([^:]+):([^:]+):(\d+)$/.exec(value) ?? [];
  if (name === undefined) return value;
  const at = SECOND.test(output) ? 1 : Number(index);
  return at === 0 ? name : `${name}:${at}`;
}

/** A value under another name. */
function renamed(from: string, to: string): NodeProto[] {
  return from === to ? [] : [nodeOf({ opType: 'Identity', name: to, input: [from], output: [to] })];
}

function modelOf(
  graph: GraphProto,
  functions: readonly FunctionProto[],
  producerName: string,
): ModelProto {
  const none = readMessage('ModelProto', new Uint8Array());
  return { ...none, graph, functions, producerName, opsetImport: OPERATOR_SETS };
}

const OPERATOR_SETS = [
  { domain: '', version: OPSET },
  { domain: TENSORFLOW, version: 1 },
];

/** A constant without elements, of which files have no weight. */
function emptyTensor(node: GraphNode): TensorProto {
  const { tensor } = Object(node.attr['value']) as {
    tensor?: { tensorShape?: unknown; dtype?: unknown };
  };
  const shape = shapeOf(tensor?.tensorShape) ?? [];
  if (shape.includes(0)) {
    return tensorOf(node.name, elementType(tensor?.dtype), shape, new Uint8Array());
  }
  throw new FormatError({
    where: `node "${node.name}" (Const)`,
    got: 'no weight of that name',
    expected: 'one in weightsManifest',
  });
}

function inputOf({ name, attr }: GraphNode, model: GraphModel) {
  const { shape } = Object(attr['shape']) as { shape?: unknown };
  const [key, stated] =
    [...model.inputs].find(([, tensor]) => nodeNameOf(tensor.name) === name) ?? [];
  const own = shape === undefined ? undefined : shapeOf(shape);
  const { type } = Object(attr['dtype']) as { type?: unknown };
  return valueOf(nameFor(key, name, model), elementType(type), own ?? stated?.shape);
}

/** The values that a model gives, by their names: those of its signature, else of the nodes that none reads. */
function outputsOf(model: GraphModel): Map<string, string> {
  const { outputs, nodes } = model;
  if (outputs.size > 0) {
    return new Map(
      [...outputs].map(([key, { name }]) => [
        nameFor(key, valueName(name), model),
        valueName(name),
      ]),
    );
  }
  const read = new Set(nodes.flatMap(({ input }) => input.map(nodeNameOf)));
  const last = nodes.filter(({ name, op }) => !read.has(name) && op !== 'NoOp' && op !== 'Const');
  return new Map(last.map(({ name }) => [name, name]));
}

/** The name that the signature gives a value, unless a node has it. */
function nameFor(key: string | undefined, value: string, { nodes }: GraphModel): string {
  const name = key === undefined ? value : valueName(key);
  return nodes.some((node) => node.name === name) ? value : name;
}

/** The nodes that values depend on, in the order of the graph. */
function neededBy(values: readonly string[], byName: ReadonlyMap<string, GraphNode>): GraphNode[] {
  const needed = new Set(values.map(nodeNameOf));
  for (const name of needed) {
    for (const input of byName.get(name)?.input ?? []) {
      if (!input.startsWith('^')) needed.add(nodeNameOf(input));
    }
  }
  const missing = [...needed].find((name) => !byName.has(name));
  if (missing === undefined) return [...byName.values()].filter(({ name }) => needed.has(name));
  throw new FormatError({
    where: 'TensorFlow.js model',
    got: `a value of node "${missing}", which is missing`,
    expected: 'a node of modelTopology',
  });
}
