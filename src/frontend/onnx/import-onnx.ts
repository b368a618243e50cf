import { constant, func, moduleOf, tuple, variable } from '../../compiler/ir/build.ts';
import type { Expr, Module, VarExpr } from '../../compiler/ir/expr.ts';
import { type DimBindings, unboundDim } from '../../compiler/passes/bind-dims.ts';
import { TypeInference } from '../../compiler/type-inference.ts';
import { type Dim, formatDim } from '../../core/dim.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { elementCount, formatShape } from '../../core/shape.ts';
import { NodeAttributes } from './attributes.ts';
import { ImportNode, type ShapeValues } from './import-node.ts';
import { importerOf, OperatorSets } from './operator-sets.ts';
import { readMessage } from './protobuf/read-message.ts';
import { dtypeFromOnnx, tensorFromProto } from './protobuf/read-tensor.ts';
import type { GraphProto, NodeProto, ValueInfoProto } from './protobuf/schema.ts';
import { describeNode, nodeName, operatorName, sortNodes } from './sort-nodes.ts';

export interface ImportOptions {
  /**
   * Numbers for symbolic dimensions of the model's inputs, by name; a dimension without a name goes
   * by `input.axis`, such as `data.0`.
   */
  readonly dims?: DimBindings | undefined;
}

/**
 * Reads an ONNX model (a serialized ModelProto) into a module whose `main` takes the graph's inputs
 * and gives its outputs, under their names.
 *
 * Throws FormatError for bytes that are no valid model, and one UnsupportedError that lists every
 * node that cannot be imported.
 */
export function importOnnx(bytes: Uint8Array, options: ImportOptions = {}): Module {
  const model = readMessage('ModelProto', bytes);
  const { graph } = model;
  if (graph === undefined) {
    throw new FormatError({
      where: 'ONNX model',
      got: 'no graph',
      expected: 'a ModelProto with a graph',
      remedy: 'The file may be truncated or of another format.',
    });
  }
  const operatorSets = OperatorSets.of(model.opsetImport, 'ONNX model');
  return new GraphImporter(graph, operatorSets, options.dims ?? {}).import({
    producer: model.producerName ?? '',
    graph: graph.name ?? '',
  });
}

class GraphImporter {
  readonly #graph: GraphProto;
  readonly #operatorSets: OperatorSets;
  readonly #dims: DimBindings;
  readonly #types = new TypeInference();
  readonly #shapeValues: ShapeValues = new WeakMap();
  readonly #values = new Map<string, Expr>();
  readonly #params: VarExpr[] = [];

  constructor(graph: GraphProto, operatorSets: OperatorSets, dims: DimBindings) {
    this.#graph = graph;
    this.#operatorSets = operatorSets;
    this.#dims = dims;
  }

  import(metadata: Readonly<Record<string, string>>): Module {
    const order = this.#liveNodes();
    requireOperators(order);
    this.#readInitializers();
    this.#readInputs();
    this.#readNodes(order);
    const names = this.#outputNames();
    const results = names.map((name) => this.#output(name));
    const [first] = results;
    if (first === undefined) {
      throw new FormatError({ where: 'ONNX graph', got: 'no outputs', expected: 'one or more' });
    }
    const body = results.length === 1 ? first : tuple(results);
    const main = func(this.#params, body, { resultNames: names });
    const known = Object.entries(metadata).filter(([, value]) => value !== '');
    return moduleOf({ main }, Object.fromEntries(known));
  }

  #outputNames(): string[] {
    const names = this.#graph.output.map(({ name }) => name ?? '');
    const seen = new Set<string>();
    for (const name of names) {
      requireName(name, 'output');
      if (seen.has(name)) throw duplicate(`output "${name}"`);
      seen.add(name);
    }
    return names;
  }

  #liveNodes(): NodeProto[] {
    const given = new Set<string>();
    for (const { name } of this.#graph.initializer) given.add(name ?? '');
    for (const { name } of this.#graph.input) given.add(name ?? '');
    const { sparseInitializer } = this.#graph;
    for (const { values } of sparseInitializer) given.add(values?.name ?? '');
    return sortNodes(this.#graph.node, given, this.#outputNames());
  }

  #readInitializers(): void {
    for (const proto of this.#graph.initializer) {
      const name = proto.name ?? '';
      if (this.#values.has(name)) {
        throw duplicate(`initializer "${name}"`);
      }
      const value = tensorFromProto(proto, `initializer "${name}"`);
      this.#values.set(name, constant(value, { source: name }));
    }
    const [sparse] = this.#graph.sparseInitializer;
    if (sparse === undefined) return;
    throw new UnsupportedError({
      where: `initializer "${sparse.values?.name ?? ''}"`,
      got: 'a sparse tensor',
      expected: 'dense tensors',
    });
  }

  /** An input that an initializer gives a default for is a constant. */
  #readInputs(): void {
    const seen = new Set<string>();
    for (const info of this.#graph.input) {
      const name = info.name ?? '';
      if (seen.has(name)) {
        throw duplicate(`input "${name}"`);
      }
      seen.add(name);
      if (this.#values.has(name)) continue;
      requireName(name, 'input');
      const param = inputVariable(info, this.#dims);
      this.#params.push(param);
      this.#values.set(name, param);
    }
  }

  /** Goes on after a node that cannot be imported, so that one error lists them all. */
  #readNodes(order: readonly NodeProto[]): void {
    const refused: UnsupportedError[] = [];
    const missing = new Set<string>();
    for (const node of order) {
      if (node.input.some((name) => missing.has(name))) {
        for (const name of node.output) missing.add(name);
        continue;
      }
      try {
        this.#readNode(node);
      } catch (thrown) {
        if (!(thrown instanceof UnsupportedError)) throw thrown;
        refused.push(thrown);
        for (const name of node.output) missing.add(name);
      }
    }
    const [first] = refused;
    if (first === undefined) return;
    if (refused.length === 1) throw first;
    const messages = refused.map(({ message }) => message);
    throw new UnsupportedError(
      `${refused.length} nodes of the model are not supported:\n  ${messages.join('\n  ')}`,
      { details: { nodes: messages } },
    );
  }

  #readNode(node: NodeProto): void {
    const where = describeNode(node);
    const importer = importerOf(node.domain, node.opType ?? '');
    if (importer === undefined) throw new Error(`internal: ${where} was not refused`);
    const attributes = new NodeAttributes(node, where);
    const results = importer(
      new ImportNode({
        opType: node.opType ?? '',
        where,
        span: { source: nodeName(node) },
        opset: this.#operatorSets.version(node.domain),
        attributes,
        inputs: node.input.map((name) => this.#operand(name, where)),
        outputCount: node.output.length,
        types: this.#types,
        shapeValues: this.#shapeValues,
      }),
    );
    attributes.requireAllRead();
    const values = 'kind' in results ? [results] : results;
    for (const [index, name] of node.output.entries()) {
      const value = values[index];
      if (name !== '' && value !== undefined) this.#values.set(name, value);
    }
  }

  #operand(name: string, where: string): Expr | undefined {
    if (name === '') return undefined;
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    throw new UnsupportedError({
      where,
      got: `input "${name}", an optional output that its node does not give here`,
      expected: 'main outputs only',
    });
  }

  #output(name: string): Expr {
    const value = this.#values.get(name);
    if (value !== undefined && !this.#shapeValues.has(value)) return value;
    if (value !== undefined) {
      throw new UnsupportedError({
        where: `output "${name}"`,
        got: 'dimensions that are known only when the model runs',
        expected: 'tensors that it computes',
        remedy: 'Bind the dimensions of the inputs: --dim NAME=SIZE, or dims: { NAME: SIZE }.',
      });
    }
    const producer = this.#graph.node.find((node) => node.output.includes(name));
    if (producer === undefined) {
      throw new FormatError({
        where: `output "${name}"`,
        got: 'a name that nothing defines',
        expected: 'an input, an initializer or the output of a node',
      });
    }
    throw new UnsupportedError({
      where: describeNode(producer),
      got: `the graph's output "${name}", an optional output of the node`,
      expected: 'main outputs only',
    });
  }
}

function duplicate(where: string): FormatError {
  return new FormatError({ where, got: 'two of that name', expected: 'each name once' });
}

/** Callers know inputs and outputs by name, and executables bound its length. */
function requireName(name: string, what: string): void {
  if (name !== '' && name.length <= 1024) return;
  throw new FormatError({
    where: 'ONNX graph',
    got: `an ${what} with a name of ${name.length} characters`,
    expected: '1 to 1024',
  });
}

/** Throws one UnsupportedError that lists every node whose operator has no importer. */
function requireOperators(nodes: readonly NodeProto[]): void {
  const unknown = nodes.filter(
    ({ domain, opType = '' }) => importerOf(domain, opType) === undefined,
  );
  if (unknown.length === 0) return;
  const operators = [...new Set(unknown.map(operatorName))].sort();
  const lines = unknown.map(describeNode);
  throw new UnsupportedError(
    `ONNX model: got ${unknown.length} ${unknown.length === 1 ? 'node' : 'nodes'} of ` +
      `${operators.length === 1 ? 'an unsupported operator' : 'unsupported operators'} ` +
      `(${operators.join(', ')}), expected operators that Weft has:\n  ${lines.join('\n  ')}`,
    { details: { operators, nodes: lines } },
  );
}

function inputVariable(info: ValueInfoProto, dims: DimBindings): VarExpr {
  const name = info.name ?? '';
  const where = `input "${name}"`;
  const tensor = info.type?.tensorType;
  if (tensor === undefined) {
    throw new UnsupportedError({
      where,
      got: info.type === undefined ? 'no type' : 'a sequence, map, optional or sparse tensor',
      expected: 'a tensor',
    });
  }
  const dtype = dtypeFromOnnx(tensor.elemType, where);
  if (tensor.shape === undefined) {
    throw new UnsupportedError({
      where,
      got: 'a tensor of unknown rank',
      expected: 'a shape',
      remedy: 'Give the input a shape in the model.',
    });
  }
  const symbols = tensor.shape.dim.map(
    ({ dimValue, dimParam }, axis): Dim =>
      dimValue ?? (dimParam === undefined || dimParam === '' ? `${name}.${axis}` : dimParam),
  );
  const shape = symbols.map((dim, axis): Dim => {
    const value = typeof dim === 'string' ? (dims[dim] ?? dim) : dim;
    if (typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0)) return value;
    const type = `Tensor[${formatShape(symbols.map(String))}, ${dtype}]`;
    throw unboundDim(where, { dim, axis, type });
  });
  const known = shape.filter((dim) => typeof dim === 'number');
  if (!Number.isSafeInteger(elementCount(known))) {
    throw new FormatError({
      where,
      got: `shape ${formatShape(shape.map(formatDim))}`,
      expected: 'dimensions with a product below 2^53',
    });
  }
  return variable(name, dtype, shape, { source: name });
}
