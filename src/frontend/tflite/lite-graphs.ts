import { budgetInForce } from '../../compiler/ir/compile-budget.ts';
import { constant, variable } from '../../compiler/ir/build.ts';
import type { Expr, VarExpr } from '../../compiler/ir/expr.ts';
import { requireKnownDims, unboundDim } from '../../compiler/passes/dims/bind-dims.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { reserveTensorMemory } from '../../core/limits/work-meter.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { elementCount, formatShape } from '../../core/tensor/shape.ts';
import { NodeAttributes } from '../onnx/attributes.ts';
import { Block, FunctionFrame } from '../onnx/graph-scope.ts';
import type { ImportContext } from '../onnx/import-context.ts';
import type { ImporterTable } from '../onnx/importer-table.ts';
import { Refusals } from '../onnx/refusals.ts';
import { readMessage } from '../onnx/protobuf/read-message.ts';
import { dtypeOf, LiteNode } from './lite-node.ts';
import { importCodes } from './quantized/import-codes.ts';
import type { LiteImporter } from './lite-importer.ts';
import { BUILTIN_IMPORTERS } from './operators/index.ts';
import { CUSTOM_IMPORTERS } from './operators/custom.ts';
import type { LiteGraph, LiteModel, LiteOperator, LiteTensor } from './reader/read-model.ts';
import { densify } from './reader/sparse-tensor.ts';

/** The domain in which users name custom operators. */
const DOMAIN = 'tflite';

const NOTHING = new Uint8Array();

interface Main {
  readonly params: readonly VarExpr[];
  readonly results: readonly Expr[];
  /** Names of the results. */
  readonly outputs: readonly string[];
}

/** Where a module is built. */
interface Parts {
  readonly context: ImportContext;
  readonly block: Block;
  readonly importers: ImporterTable;
}

/** Imports the graphs of a model. */
export class LiteGraphs {
  readonly #model: LiteModel;
  readonly #parts: Parts;
  /** Constants, each once. */
  readonly #constants = new Map<LiteTensor, Expr>();
  /** Numbers of the graphs that are being imported. */
  readonly #open = new Set([0]);

  constructor(model: LiteModel, parts: Parts) {
    this.#model = model;
    this.#parts = parts;
  }

  /** The first graph. Throws as `importTflite` does. */
  importMain(): Main {
    const [graph] = this.#model.graphs;
    const signature = this.#model.signatures.find((one) => one.graph === 0);
    const { context, block } = this.#parts;
    const inputs = namesOf(graph, graph.inputs, signature?.inputs);
    const params = graph.inputs.map((index, i) =>
      this.#parameter(graph.tensors[index], inputs[i] ?? ''),
    );
    context.inputs.push(...params);
    requireKnownDims('dims', context.dims, context.symbols);
    for (const param of params) {
      if (param.type !== undefined) block.frame.addCarriers(param, param.type);
    }
    const values = this.#read(graph, params, block);
    // A tensor that is listed twice is one value under one name.
    const indices = [...new Set(graph.outputs)];
    const outputs = namesOf(graph, indices, signature?.outputs);
    const place = { graph, block, operator: PLACE, where: 'graph 0', name: '', inputs: [] };
    const node = this.#node(place);
    const results = indices.map((index, i) => {
      const value = values(index);
      if (value !== undefined) return node.tensor(value);
      throw noValue(`output "${outputs[i]}"`);
    });
    return { params, results, outputs };
  }

  /** Another graph than the first, as the body of a function. */
  #importGraph(index: number, inputs: readonly Expr[], where: string) {
    const graph = this.#model.graphs[index];
    if (graph === undefined || this.#open.has(index)) {
      const got = graph === undefined ? `graph ${index}` : `graph ${index}, which calls itself`;
      throw new FormatError({ where, got, expected: 'another graph of the model' });
    }
    if (graph.inputs.length !== inputs.length) {
      const expected = `${graph.inputs.length}, as graph ${index} takes`;
      throw new FormatError({ where, got: `${inputs.length} values`, expected });
    }
    this.#open.add(index);
    const { context } = this.#parts;
    const block = new Block(context, new FunctionFrame(context, this.#parts.block));
    const values = this.#read(graph, inputs, block);
    const place = { graph, block, operator: PLACE, where, name: '', inputs: [] };
    const node = this.#node(place);
    const results = graph.outputs.map((output) => {
      const value = values(output);
      if (value !== undefined) return node.tensor(value);
      throw noValue(`graph ${index}, output ${output}`);
    });
    this.#open.delete(index);
    return { block, results };
  }

  /** The values of a graph's tensors for values of its inputs. */
  #read(
    graph: LiteGraph,
    inputs: readonly Expr[],
    block: Block,
  ): (index: number) => Expr | undefined {
    const values = new Map<number, Expr>();
    for (const [i, index] of graph.inputs.entries()) {
      const input = inputs[i];
      if (input !== undefined) values.set(index, input);
    }
    const valueOf = (index: number): Expr | undefined =>
      values.get(index) ?? this.#constant(graph.tensors[index], index);
    const refusals = new Refusals();
    const missing = new Set<number>();
    for (const operator of neededBy(graph)) {
      const name = nodeName(graph, operator);
      const where = `node "${name}" (${operator.name})`;
      budgetInForce()?.addNode(where);
      const importer = this.#importerOf(operator);
      if (importer === undefined) refusals.addUnknownOperator(where, operator.name);
      if (importer === undefined || operator.inputs.some((index) => missing.has(index))) {
        for (const index of operator.outputs) missing.add(index);
        continue;
      }
      try {
        const given = operator.inputs.map((index) => this.#operand(index, valueOf, where));
        const node = this.#node({ graph, block, operator, where, name, inputs: given });
        const results = importCodes(importer, node);
        for (const [i, value] of ('kind' in results ? [results] : results).entries()) {
          const index = operator.outputs[i];
          if (index === undefined || index < 0 || value === undefined) continue;
          values.set(index, node.withShortSizes(value));
        }
      } catch (error) {
        if (!(error instanceof UnsupportedError)) throw error;
        refusals.add(error);
        for (const index of operator.outputs) missing.add(index);
      }
    }
    refusals.throwIfAny('TensorFlow Lite model');
    return valueOf;
  }

  #importerOf({ name, isCustom }: LiteOperator): LiteImporter | undefined {
    const table = isCustom ? CUSTOM_IMPORTERS : BUILTIN_IMPORTERS;
    if (Object.hasOwn(table, name)) return table[name];
    const own = isCustom ? this.#parts.importers.find(DOMAIN, name) : undefined;
    if (own === undefined) return undefined;
    return {
      makes: '',
      import: (node) => {
        const results = own(node);
        if ('exits' in results) throw new Error(`internal: ${name} splits the program`);
        return results;
      },
    };
  }

  #operand(
    index: number,
    valueOf: (index: number) => Expr | undefined,
    where: string,
  ): Expr | undefined {
    if (index < 0) return undefined;
    const value = valueOf(index);
    if (value !== undefined) return value;
    throw noValue(`${where}, tensor ${index}`);
  }

  #node({ graph, block, operator, where, name, inputs }: NodePlace): LiteNode {
    const { context } = this.#parts;
    const tensor = (index: number): LiteTensor | undefined => graph.tensors[index];
    const names = operator.outputs.map((index) => tensorName(graph, index));
    if (name !== '') context.valueNames.set(name, names);
    return new LiteNode({
      opType: operator.name,
      where,
      span: { source: name },
      opset: operator.version,
      attributes: new NodeAttributes(customAttributes(operator), where),
      inputs,
      outputCount: operator.outputs.length,
      types: context.types,
      shapeValues: context.shapeValues,
      context,
      block,
      subgraph: (attribute) => {
        throw new Error(`internal: no graph ${attribute}`);
      },
      operator,
      inputTensors: operator.inputs.map(tensor),
      outputTensors: operator.outputs.map(tensor),
      importGraph: this.#importGraph.bind(this),
    });
  }

  /** An input of the program; sizes that a caller may choose are symbols. */
  #parameter(tensor: LiteTensor | undefined, name: string): VarExpr {
    const { shape = [], signature, type = 0 } = tensor ?? {};
    const where = `input "${name}"`;
    const dtype = dtypeOf(type, where);
    const { context } = this.#parts;
    const { dims } = context;
    const symbols = shape.map(
      (size, axis): Dim => (signature?.[axis] === -1 ? `${name}.${axis}` : size),
    );
    const bound = symbols.map((dim, axis): Dim => {
      if (typeof dim !== 'string') return dim;
      context.takeSymbol(dim);
      const value = Object.hasOwn(dims, dim) ? (dims[dim] ?? dim) : dim;
      if (typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0)) return value;
      const declared = `Tensor[${formatShape(symbols.map(String))}, ${dtype}]`;
      throw unboundDim(where, { dim, axis, type: declared });
    });
    const known = bound.filter((dim) => typeof dim === 'number');
    if (!Number.isSafeInteger(elementCount(known))) {
      const got = `shape ${formatShape(bound.map(formatDim))}`;
      throw new FormatError({ where, got, expected: 'dimensions with a product below 2^53' });
    }
    return variable(name, dtype, bound, { source: name });
  }

  /** A tensor that the file holds, undefined for another. */
  #constant(tensor: LiteTensor | undefined, index: number): Expr | undefined {
    if (tensor === undefined) return undefined;
    const known = this.#constants.get(tensor);
    if (known !== undefined) return known;
    const made = constantOf(tensor, index);
    if (made !== undefined) this.#constants.set(tensor, made);
    return made;
  }
}

interface NodePlace {
  readonly graph: LiteGraph;
  readonly block: Block;
  readonly operator: LiteOperator;
  readonly where: string;
  readonly name: string;
  readonly inputs: readonly (Expr | undefined)[];
}

/** An operator that does nothing, for a place in a graph where there is none. */
const PLACE: LiteOperator = {
  name: '',
  isCustom: false,
  version: 1,
  inputs: [],
  outputs: [],
  optionsType: 0,
  options: undefined,
  customOptions: NOTHING,
};

/** Those of the operators that the graph's outputs depend on, and those that have none, in their order. */
function neededBy({ operators, outputs }: LiteGraph): readonly LiteOperator[] {
  const needed = new Set(outputs);
  const found = operators.toReversed().filter((operator) => {
    const isNeeded =
      operator.outputs.length === 0 || operator.outputs.some((index) => needed.has(index));
    if (isNeeded) for (const index of operator.inputs) needed.add(index);
    return isNeeded;
  });
  return found.toReversed();
}

function constantOf(tensor: LiteTensor, index: number): Expr | undefined {
  const where = `tensor "${tensor.name || index}"`;
  const { shape, sparsity, data } = tensor;
  if (data === undefined) {
    const isEmpty = shape.includes(0);
    if (!isEmpty) return undefined;
  }
  const dtype = dtypeOf(tensor.type, where);
  const span = { source: tensor.name || `tensor ${index}` };
  const count = elementCount(shape);
  const { byteLength } = dtypeInfo(dtype);
  const stored = data ?? NOTHING;
  const bytes =
    sparsity === undefined ? stored : densify(stored, sparsity, { shape, size: byteLength, where });
  if (dtype === 'int4') return constant(unpacked(bytes, shape, where), span);
  if (bytes.byteLength !== count * byteLength) {
    throw new FormatError({
      where,
      got: `${bytes.byteLength} bytes`,
      expected: `${count * byteLength} for ${dtype} ${formatShape(shape)}`,
    });
  }
  return constant(HostTensor.fromBytes(dtype, shape, bytes), span);
}

/** Integers of 4 bits, two in a byte, the lower first, as int8. */
function unpacked(bytes: Uint8Array, shape: readonly number[], where: string): HostTensor {
  const count = elementCount(shape);
  if (bytes.byteLength !== Math.ceil(count / 2)) {
    const expected = `${Math.ceil(count / 2)} for int4 ${formatShape(shape)}`;
    throw new FormatError({ where, got: `${bytes.byteLength} bytes`, expected });
  }
  reserveTensorMemory(count);
  const codes = Int8Array.from({ length: count }, (_, i) => {
    const byte = bytes[i >> 1] ?? 0;
    return ((i % 2 === 0 ? byte << 4 : byte) << 24) >> 28;
  });
  return new HostTensor('int8', shape, codes);
}

function noValue(where: string): FormatError {
  return new FormatError({
    where,
    got: 'a tensor that nothing computes',
    expected: 'an input, a constant or the output of an operator before',
  });
}

function tensorName(graph: LiteGraph, index: number): string {
  return graph.tensors[index]?.name || `tensor ${index}`;
}

/** The name by which messages call an operator, which has none itself: that of its first output. */
function nodeName(graph: LiteGraph, { outputs }: LiteOperator): string {
  const first = outputs.find((index) => index >= 0);
  return first === undefined ? '' : tensorName(graph, first);
}

/** Names of tensors for callers, each once: of a signature, else their own, else by number. */
function namesOf(
  graph: LiteGraph,
  indices: readonly number[],
  signature: ReadonlyMap<number, string> | undefined,
): readonly string[] {
  const names = indices.map((index) => signature?.get(index) || tensorName(graph, index));
  for (const name of names) {
    if (name.length <= 1024) continue;
    throw new FormatError({
      where: 'graph 0',
      got: `a name of ${name.length} characters`,
      expected: 'at most 1024',
    });
  }
  const seen = new Set<string>();
  return names.map((name, i) => {
    const free = seen.has(name) ? `${name} (tensor ${indices[i]})` : name;
    seen.add(free);
    return free;
  });
}

/** The options of a custom operator, as an attribute of bytes. */
function customAttributes({ customOptions }: LiteOperator) {
  const node = readMessage('NodeProto', NOTHING);
  if (customOptions.byteLength === 0) return node;
  const t = {
    ...readMessage('TensorProto', NOTHING),
    dims: [customOptions.byteLength],
    dataType: 2,
    rawData: customOptions,
  };
  const attribute = {
    ...readMessage('AttributeProto', NOTHING),
    name: 'custom_options',
    type: 4,
    t,
  };
  return { ...node, attribute: [attribute] };
}
