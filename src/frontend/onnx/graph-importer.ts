import { constant } from '../../compiler/ir/build.ts';
import type { Expr } from '../../compiler/ir/expr.ts';
import { FormatError, UnsupportedError } from '../../core/errors.ts';
import { NodeAttributes } from './attributes.ts';
import { type Block, Names } from './graph-scope.ts';
import { describeFunction, type ImportContext } from './import-context.ts';
import { ImportNode } from './import-node.ts';
import { importerOf } from './importer-of.ts';
import { OperatorSets } from './operator-sets.ts';
import { readMessage } from './protobuf/read-message.ts';
import { denseFromProto } from './protobuf/read-sparse-tensor.ts';
import { tensorFromProto } from './protobuf/read-tensor.ts';
import type { AttributeProto, FunctionProto, GraphProto, NodeProto } from './protobuf/schema.ts';
import { Refusals } from './refusals.ts';
import { resolveAttributeReferences } from './resolve-attribute-references.ts';
import { describeNode, nodeName, operatorName, readsOf, sortNodes } from './sort-nodes.ts';
import { Subgraph } from './subgraph.ts';

/** Where the nodes of a graph or a function of the model stand. */
export interface Surroundings {
  readonly context: ImportContext;
  readonly operatorSets: OperatorSets;
  /** Attributes of the call, inside a function of the model. */
  readonly attributes: ReadonlyMap<string, AttributeProto> | undefined;
  /** ` of then_branch of node "a" (If)`, behind the name of a node; empty in the main graph. */
  readonly place: string;
  /** The functions of the model that are being inlined, the outermost first. */
  readonly calls: readonly FunctionProto[];
}

/** What is imported: a graph, or the body of a function. */
export interface Body {
  readonly nodes: readonly NodeProto[];
  readonly outputs: readonly string[];
  /** Names that stand for nothing: inputs that a call of the function leaves out. */
  readonly absent: ReadonlySet<string>;
}

/** Imports the nodes of one graph, or of one function of the model, into a block. */
export class GraphImporter {
  readonly #surroundings: Surroundings;
  readonly #block: Block;
  readonly #names: Names;
  readonly #own = new Set<string>();
  #absent: ReadonlySet<string> = new Set();

  constructor(surroundings: Surroundings, block: Block, outer?: Names) {
    this.#surroundings = surroundings;
    this.#block = block;
    this.#names = new Names(block.frame, outer);
  }

  /** Defines a name of the graph. Throws FormatError when it has it already. */
  define(name: string, value: Expr, what: string): void {
    if (this.#own.has(name)) {
      throw new FormatError({
        where: `${what} "${name}"${this.#surroundings.place}`,
        got: 'two of that name',
        expected: 'each name once',
      });
    }
    this.#own.add(name);
    this.#names.set(name, value);
  }

  /** Whether the graph has an input or initializer of that name. */
  has(name: string): boolean {
    return this.#own.has(name);
  }

  /** Reads the tensors of a graph. */
  readInitializers({ initializer, sparseInitializer }: GraphProto): void {
    const { externalData } = this.#surroundings.context;
    const define = (name: string, read: (where: string) => Expr): void => {
      const where = `initializer "${name}"${this.#surroundings.place}`;
      if (this.#own.has(name)) {
        throw new FormatError({ where, got: 'two of that name', expected: 'each name once' });
      }
      this.define(name, read(where), 'initializer');
    };
    for (const proto of initializer) {
      const name = proto.name ?? '';
      define(name, (where) =>
        constant(tensorFromProto(proto, where, externalData), { source: name }),
      );
    }
    for (const proto of sparseInitializer) {
      const name = proto.values?.name ?? '';
      define(name, (where) =>
        constant(denseFromProto(proto, where, externalData), { source: name }),
      );
    }
  }

  /**
   * The values of the outputs. Throws one UnsupportedError that lists every node that cannot be
   * imported.
   */
  read({ nodes, outputs, absent }: Body): Expr[] {
    this.#absent = absent;
    const given = {
      own: new Set([...this.#own, ...absent]),
      isOuter: (name: string) => this.#names.isOuter(name),
    };
    this.#readNodes(sortNodes(nodes, given, outputs));
    return outputs.map((name) => this.#output(name, nodes));
  }

  /** Goes on after a node that cannot be imported, so that one error lists them all. */
  #readNodes(order: readonly NodeProto[]): void {
    const refusals = new Refusals();
    const missing = new Set<string>();
    for (const node of order) {
      if (readsOf(node).some(({ name }) => missing.has(name))) {
        this.#findUnknown([node], refusals, this.#surroundings);
        for (const name of node.output) missing.add(name);
        continue;
      }
      try {
        this.#readNode(node);
      } catch (thrown) {
        if (!(thrown instanceof UnsupportedError)) throw thrown;
        if (!this.#findUnknown([node], refusals, this.#surroundings)) refusals.add(thrown);
        for (const name of node.output) missing.add(name);
      }
    }
    refusals.throwIfAny();
  }

  /** Adds the nodes whose operator nobody has, those of sub-graphs included; whether there are any. */
  #findUnknown(
    nodes: readonly NodeProto[],
    refusals: Refusals,
    { place }: { place: string },
  ): boolean {
    let found = false;
    for (const node of nodes) {
      const where = describeNode(node) + place;
      const isKnown =
        importerOf(node.domain, node.opType ?? '') !== undefined ||
        this.#surroundings.context.localFunction(node) !== undefined;
      if (!isKnown) refusals.addUnknownOperator(where, operatorName(node));
      found ||= !isKnown;
      for (const { name = '', g } of node.attribute) {
        if (g === undefined) continue;
        const inner = { place: ` of ${name} of ${where}` };
        found = this.#findUnknown(g.node, refusals, inner) || found;
      }
    }
    return found;
  }

  #readNode(written: NodeProto): void {
    const node = resolveAttributeReferences(written, this.#surroundings.attributes);
    const where = describeNode(node) + this.#surroundings.place;
    const inputs = node.input.map((name) => this.#operand(name, where));
    const results = this.#results(node, inputs, where);
    for (const [index, name] of node.output.entries()) {
      const value = results[index];
      if (name !== '' && value !== undefined) this.#names.set(name, value);
    }
  }

  #results(
    node: NodeProto,
    inputs: readonly (Expr | undefined)[],
    where: string,
  ): readonly (Expr | undefined)[] {
    const { context } = this.#surroundings;
    const importer = importerOf(node.domain, node.opType ?? '');
    const fn = context.localFunction(node);
    // What the model says of a domain that is not ONNX's own is what it means by it.
    if (fn !== undefined && (importer === undefined || (node.domain ?? '') !== '')) {
      return this.#inline(fn, { node, inputs, where });
    }
    if (importer === undefined) {
      throw new UnsupportedError({
        where,
        got: `the operator ${operatorName(node)}`,
        expected: 'operators that Weft has',
      });
    }
    const imported = this.#importNode(node, inputs, where);
    const results = importer(imported);
    imported.attributes.requireAllRead();
    return 'kind' in results ? [results] : results;
  }

  #importNode(node: NodeProto, inputs: readonly (Expr | undefined)[], where: string): ImportNode {
    const { context, operatorSets } = this.#surroundings;
    const attributes = new NodeAttributes(node, where, context.externalData);
    return new ImportNode({
      opType: node.opType ?? '',
      where,
      span: { source: nodeName(node) },
      opset: operatorSets.version(node.domain),
      attributes,
      inputs,
      outputCount: node.output.length,
      types: context.types,
      shapeValues: context.shapeValues,
      context,
      block: this.#block,
      subgraph: (name) => this.#subgraph(attributes.graph(name), `${name} of ${where}`),
    });
  }

  /** {@link read}, with tensors in the place of shape arithmetic. */
  readTensors(body: Body): Expr[] {
    const name = body.outputs.join(', ');
    const identity = { ...readMessage('NodeProto', new Uint8Array()), name };
    const node = this.#importNode(identity, [], `output "${name}"`);
    return this.read(body).map((value) => node.tensor(value));
  }

  #subgraph(graph: GraphProto, name: string): Subgraph {
    const surroundings = { ...this.#surroundings, place: ` of ${name}` };
    return new Subgraph(graph, name, (block, inputs) => {
      const importer = new GraphImporter(surroundings, block, this.#names);
      importer.readInitializers(graph);
      for (const [i, input] of graph.input.entries()) {
        const value = inputs[i];
        if (value !== undefined) importer.define(input.name ?? '', value, 'input');
      }
      const outputs = graph.output.map(({ name: output }) => output ?? '');
      return importer.read({ nodes: graph.node, outputs, absent: new Set() });
    });
  }

  /** The body of a function of the model in the place of its call. */
  #inline(
    fn: FunctionProto,
    call: { node: NodeProto; inputs: readonly (Expr | undefined)[]; where: string },
  ): readonly (Expr | undefined)[] {
    const { node, inputs, where } = call;
    const { calls } = this.#surroundings;
    requireNoRecursion([...calls, fn], where);
    if (inputs.length > fn.input.length || node.output.length > fn.output.length) {
      throw new FormatError({
        where,
        got: `${inputs.length} inputs and ${node.output.length} outputs`,
        expected: `at most ${fn.input.length} and ${fn.output.length} for ${describeFunction(fn)}`,
      });
    }
    const importer = new GraphImporter(
      {
        context: this.#surroundings.context,
        operatorSets: OperatorSets.of(fn.opsetImport, describeFunction(fn)),
        attributes: functionAttributes(fn, node),
        place: ` of ${describeFunction(fn)} of ${where}`,
        calls: [...calls, fn],
      },
      this.#block,
    );
    const absent = new Set<string>();
    for (const [i, name] of fn.input.entries()) {
      const value = inputs[i];
      if (value === undefined) absent.add(name);
      else importer.define(name, value, 'input');
    }
    const wanted = fn.output.filter((_, i) => (node.output[i] ?? '') !== '');
    const results = importer.read({ nodes: fn.node, outputs: wanted, absent });
    const byName = new Map(wanted.map((name, i) => [name, results[i]]));
    return fn.output.map((name) => byName.get(name));
  }

  #operand(name: string, where: string): Expr | undefined {
    if (name === '' || this.#absent.has(name)) return undefined;
    const value = this.#names.lookup(name);
    if (value !== undefined) return value;
    throw new UnsupportedError({
      where,
      got: `input "${name}", an optional output that its node does not give here`,
      expected: 'main outputs only',
    });
  }

  #output(name: string, nodes: readonly NodeProto[]): Expr {
    const value = this.#names.lookup(name);
    if (value !== undefined) return value;
    const { place } = this.#surroundings;
    const producer = nodes.find((node) => node.output.includes(name));
    if (producer === undefined) {
      throw new FormatError({
        where: `output "${name}"${place}`,
        got: 'a name that nothing defines',
        expected: 'an input, an initializer or the output of a node',
      });
    }
    throw new UnsupportedError({
      where: describeNode(producer) + place,
      got: `the graph's output "${name}", an optional output of the node`,
      expected: 'main outputs only',
    });
  }
}

/** The attributes that the nodes of a function may refer to: those of the call, else defaults. */
function functionAttributes(
  fn: FunctionProto,
  call: NodeProto,
): ReadonlyMap<string, AttributeProto> {
  const attributes = [...fn.attributeProto, ...call.attribute];
  return new Map(attributes.map((attribute) => [attribute.name ?? '', attribute]));
}

function requireNoRecursion(calls: readonly FunctionProto[], where: string): void {
  const last = calls.at(-1);
  const first = calls.findIndex((fn) => fn === last);
  if (first === calls.length - 1) return;
  throw new UnsupportedError({
    where,
    got: `functions that call themselves: ${calls.slice(first).map(describeFunction).join(', ')}`,
    expected: 'functions without recursion',
  });
}
