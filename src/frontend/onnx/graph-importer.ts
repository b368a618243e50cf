import type { ImporterTable } from './importer-table.ts';
import { budgetInForce } from '../../compiler/ir/compile-budget.ts';
import { constant } from '../../compiler/ir/build.ts';
import type { Expr, Span } from '../../compiler/ir/expr.ts';
import { CompileLimitError, FormatError, UnsupportedError } from '../../core/errors.ts';
import { NodeAttributes } from './attributes.ts';
import { type Block, Names } from './graph-scope.ts';
import { describeFunction, type ImportContext } from './import-context.ts';
import { ImportNode } from './import-node.ts';
import { type Difference, joinPaths } from './paths/join-paths.ts';
import { OperatorSets } from './model/operator-sets.ts';
import { readMessage } from './protobuf/read-message.ts';
import { denseFromProto } from './protobuf/read-sparse-tensor.ts';
import { tensorFromProto } from './protobuf/read-tensor.ts';
import type { AttributeProto, FunctionProto, GraphProto, NodeProto } from './protobuf/schema.ts';
import { Refusals } from './refusals.ts';
import { resolveAttributeReferences } from './model/resolve-attribute-references.ts';
import { describeNode, nodeName, operatorName, readsOf, sortNodes } from './model/sort-nodes.ts';
import { Subgraph } from './model/subgraph.ts';
import { withTensorNames } from './model/tensor-names.ts';
import { type NodeReader, PathFollower } from './paths/path-follower.ts';
import { Fork, Path } from './paths/paths.ts';

/** The context in which nodes of a graph or of a function of the model are imported. */
interface GraphContext {
  readonly context: ImportContext;
  readonly importers: ImporterTable;
  readonly operatorSets: OperatorSets;
  /** Attributes of the call, inside a function of the model. */
  readonly attributes: ReadonlyMap<string, AttributeProto> | undefined;
  /** ` of then_branch of node "a" (If)`, behind the name of a node; empty in the main graph. */
  readonly place: string;
  /** The functions of the model that are being inlined, the outermost first. */
  readonly calls: readonly FunctionProto[];
}

/** The nodes to import: a graph, or the body of a function. */
interface Body {
  readonly nodes: readonly NodeProto[];
  readonly outputs: readonly string[];
  /** Names that stand for nothing: inputs that a call of the function leaves out. */
  readonly absent: ReadonlySet<string>;
}

/** Imports the nodes of one graph, or of one function of the model, into a block. */
export class GraphImporter {
  readonly #graphContext: GraphContext;
  /** The path through the graph from its begin. */
  readonly #root: Path;
  /** The one whose nodes are being imported. */
  #path: Path;
  readonly #own = new Set<string>();
  #absent: ReadonlySet<string> = new Set();

  constructor(graphContext: GraphContext, block: Block, outer?: Names) {
    this.#graphContext = graphContext;
    this.#root = new Path(block, new Names(block.frame, outer));
    this.#path = this.#root;
  }

  /** Defines a name of the graph. Throws FormatError when it has it already. */
  define(name: string, value: Expr, what: string): void {
    if (this.#own.has(name)) {
      throw new FormatError({
        where: `${what} "${name}"${this.#graphContext.place}`,
        got: 'two of that name',
        expected: 'each name once',
      });
    }
    this.#own.add(name);
    this.#root.names.set(name, value);
  }

  /** Returns true if the graph has an input or initializer of this name. */
  has(name: string): boolean {
    return this.#own.has(name);
  }

  readInitializers({ initializer, sparseInitializer }: GraphProto): void {
    const { externalData } = this.#graphContext.context;
    const define = (name: string, read: (where: string) => Expr): void => {
      const where = `initializer "${name}"${this.#graphContext.place}`;
      const budget = budgetInForce();
      if (budget) budget.place = where;
      if (this.#own.has(name)) {
        throw new FormatError({ where, got: 'two of that name', expected: 'each name once' });
      }
      this.define(name, read(where), 'initializer');
    };
    for (const proto of initializer) {
      const name = proto.name ?? '';
      define(name, (where) => {
        const read = () => tensorFromProto(proto, where, externalData);
        const { training } = this.#graphContext.context;
        if (training === undefined || this.#graphContext.place !== '') {
          return constant(read(), { source: name });
        }
        return training.initializer(name, read);
      });
    }
    for (const proto of sparseInitializer) {
      const name = proto.values?.name ?? '';
      define(name, (where) =>
        constant(denseFromProto(proto, where, externalData), { source: name }),
      );
    }
  }

  /**
   * The path through a graph, to values of the outputs or to an error that its operands have. Throws
   * FormatError for a graph that contradicts itself, and one UnsupportedError that lists every node
   * that Weft cannot import.
   */
  follow({ nodes: written, outputs, absent }: Body): Path {
    const nodes = written.map(withTensorNames);
    this.#absent = absent;
    const root = this.#root;
    const given = {
      own: new Set([...this.#own, ...absent]),
      isOuter: (name: string) => root.names.isOuter(name),
    };
    const order = this.#withoutFaults(() => sortNodes(nodes, given, outputs));
    this.#readNodes(order, outputs);
    for (const end of root.exits) {
      this.#path = end;
      end.results = outputs.map((name) => this.#output(name, nodes));
    }
    this.#path = root;
    return root;
  }

  /** Goes on after a node that Weft cannot import, so that one error lists them all. */
  #readNodes(order: readonly NodeProto[], outputs: readonly string[]): void {
    const root = this.#root;
    const isMain = this.#graphContext.place === '';
    const follower = new PathFollower(root, this.#reader(), { order, results: outputs, isMain });
    const refusals = new Refusals();
    const missing = new Set<string>();
    for (const [index, node] of order.entries()) {
      if (readsOf(node).some(({ name }) => missing.has(name))) {
        this.#findUnknown([node], refusals, this.#graphContext);
        for (const name of node.output) missing.add(name);
        continue;
      }
      follower.pass(node, index);
      const { error } = root;
      if (error === undefined) continue;
      if (!(error instanceof UnsupportedError)) {
        this.#findUnknown(order.slice(index), refusals, this.#graphContext);
        break;
      }
      root.error = undefined;
      if (!this.#findUnknown([node], refusals, this.#graphContext)) refusals.add(error);
      for (const name of node.output) missing.add(name);
    }
    refusals.throwIfAny();
  }

  #reader(): NodeReader {
    const { context } = this.#graphContext;
    return {
      read: (path, node) => {
        this.#path = path;
        return this.#readNode(node);
      },
      placeAt: (path, fork) => this.#placeAt(path, fork),
      mayBranch: (node) =>
        node.attribute.some(({ g }) => g !== undefined) ||
        context.localFunction(node) !== undefined,
      isFault: (error) => error instanceof CompileLimitError || context.faults.has(error),
    };
  }

  /**
   * Adds nodes whose operator nobody has to `refusals`, those of sub-graphs too. Returns true if
   * there are any.
   */
  #findUnknown(
    nodes: readonly NodeProto[],
    refusals: Refusals,
    { place }: { place: string },
  ): boolean {
    const { context, importers } = this.#graphContext;
    let found = false;
    for (const node of nodes) {
      const where = describeNode(node) + place;
      const isKnown =
        importers.find(node.domain, node.opType) !== undefined ||
        context.localFunction(node) !== undefined;
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

  #readNode(written: NodeProto): Fork | undefined {
    const node = resolveAttributeReferences(written, this.#graphContext.attributes);
    const where = describeNode(node) + this.#graphContext.place;
    budgetInForce()?.addNode(where);
    const inputs = node.input.map((name) => this.#operand(name, where));
    const results = this.#results(node, inputs, where);
    if (results instanceof Fork) return results;
    for (const [index, name] of node.output.entries()) {
      const value = results[index];
      if (name !== '' && value !== undefined) this.#path.names.set(name, value);
    }
    return undefined;
  }

  #results(
    node: NodeProto,
    inputs: readonly (Expr | undefined)[],
    where: string,
  ): readonly (Expr | undefined)[] | Fork {
    const { context, importers } = this.#graphContext;
    const importer = importers.find(node.domain, node.opType);
    const fn = context.localFunction(node);
    // A model's own functions define the operators of domains that are not ONNX's.
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
    if (results instanceof Fork) return results;
    const values = ('kind' in results ? [results] : results).map(
      (value) => value && imported.withShortSizes(value),
    );
    return context.training?.adapters?.adapt(imported, node.input[1] ?? '', values) ?? values;
  }

  #importNode(node: NodeProto, inputs: readonly (Expr | undefined)[], where: string): ImportNode {
    const { context, operatorSets } = this.#graphContext;
    const attributes = new NodeAttributes(node, where, context.externalData);
    const outputs = node.output.filter((name) => name !== '');
    context.valueNames.set(nodeName(node), outputs);
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
      block: this.#path.block,
      subgraph: (name) => this.#subgraph(attributes.graph(name), `${name} of ${where}`),
    });
  }

  /** A place in the graph where there is no node. */
  #placeAt(path: Path, { where, span }: { where: string; span: Span }): ImportNode {
    this.#path = path;
    const identity = { ...readMessage('NodeProto', new Uint8Array()), name: span.source };
    return this.#importNode(identity, [], where);
  }

  /**
   * The values of the outputs of the main graph, with tensors in the place of shape arithmetic. A value
   * whose rank depends on which path a program takes is one of any type.
   */
  readTensors(body: Body): Expr[] {
    const name = body.outputs.join(', ');
    const place = { where: `output "${name}"`, span: { source: name } };
    const values = this.#join(this.follow(body), 'ranks') ?? [];
    const node = this.#placeAt(this.#root, place);
    return values.map((value) => node.tensor(value));
  }

  /** The outputs of a graph on all paths to its end; undefined where these differ more than they may. */
  #join({ error, fork, results }: Path, difference: Difference): readonly Expr[] | undefined {
    if (error !== undefined) throw error;
    if (fork === undefined) return results.flatMap((value) => value ?? []);
    const [first] = fork.exits;
    const columns = (first?.results ?? []).map((_, i) =>
      fork.exits.flatMap((end) => end.results[i] ?? []),
    );
    return joinPaths(this.#placeAt(this.#root, fork), fork, columns, () => difference);
  }

  #subgraph(graph: GraphProto, name: string): Subgraph {
    const graphContext = { ...this.#graphContext, place: ` of ${name}` };
    const { names } = this.#path;
    const outputs = graph.output.map(({ name: output }) => output ?? '');
    const follow = (block: Block, inputs: readonly Expr[]): GraphImporter => {
      const importer = new GraphImporter(graphContext, block, names);
      importer.#withoutFaults(() => importer.#defineInputs(graph, inputs));
      importer.follow({ nodes: graph.node, outputs, absent: new Set() });
      return importer;
    };
    return new Subgraph(graph, name, {
      follow: (block, inputs) => follow(block, inputs).#root,
      read(block, inputs) {
        const importer = follow(block, inputs);
        const values = importer.#join(importer.#root, 'sizes');
        if (values === undefined) throw changesRank(name, importer.#root);
        return values;
      },
    });
  }

  #defineInputs(graph: GraphProto, inputs: readonly Expr[]): void {
    this.readInitializers(graph);
    for (const [i, input] of graph.input.entries()) {
      const value = inputs[i];
      if (value !== undefined) this.define(input.name ?? '', value, 'input');
    }
  }

  /** Notes errors that say nothing of operands: those are the model's, whichever path a program takes. */
  #withoutFaults<T>(work: () => T): T {
    try {
      return work();
    } catch (thrown) {
      if (thrown instanceof Error) this.#graphContext.context.faults.add(thrown);
      throw thrown;
    }
  }

  /** The body of a function of the model in the place of its call. */
  #inline(
    fn: FunctionProto,
    call: { node: NodeProto; inputs: readonly (Expr | undefined)[]; where: string },
  ): readonly (Expr | undefined)[] | Fork {
    const { node, inputs, where } = call;
    const { calls } = this.#graphContext;
    requireNoRecursion([...calls, fn], where);
    requireShallow(calls.length, where);
    if (inputs.length > fn.input.length || node.output.length > fn.output.length) {
      throw new FormatError({
        where,
        got: `${inputs.length} inputs and ${node.output.length} outputs`,
        expected: `at most ${fn.input.length} and ${fn.output.length} for ${describeFunction(fn)}`,
      });
    }
    const importer = new GraphImporter(
      {
        context: this.#graphContext.context,
        importers: this.#graphContext.importers,
        operatorSets: OperatorSets.of(fn.opsetImport, describeFunction(fn)),
        attributes: functionAttributes(fn, node),
        place: ` of ${describeFunction(fn)} of ${where}`,
        calls: [...calls, fn],
      },
      this.#path.block,
    );
    const absent = new Set<string>();
    for (const [i, name] of fn.input.entries()) {
      const value = inputs[i];
      if (value === undefined) absent.add(name);
      else importer.define(name, value, 'input');
    }
    const wanted = fn.output.filter((_, i) => (node.output[i] ?? '') !== '');
    const root = importer.follow({ nodes: fn.node, outputs: wanted, absent });
    if (root.error !== undefined) throw root.error;
    for (const end of root.exits) {
      const byName = new Map(wanted.map((name, i) => [name, end.results[i]]));
      end.results = fn.output.map((name) => byName.get(name));
    }
    return root.fork ?? root.results;
  }

  #operand(name: string, where: string): Expr | undefined {
    if (name === '' || this.#absent.has(name)) return undefined;
    const value = this.#path.names.lookup(name);
    if (value !== undefined) return value;
    throw new UnsupportedError({
      where,
      got: `input "${name}", an optional output that its node does not give here`,
      expected: 'main outputs only',
    });
  }

  #output(name: string, nodes: readonly NodeProto[]): Expr {
    const value = this.#path.names.lookup(name);
    if (value !== undefined) return value;
    const { place } = this.#graphContext;
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

function changesRank(where: string, { fork }: Path): UnsupportedError {
  return new UnsupportedError({
    where,
    got: `results whose rank depends on ${fork?.where}`,
    expected: 'the same rank in all iterations',
  });
}

/** The attributes that the nodes of a function may refer to: those of the call, else defaults. */
function functionAttributes(
  fn: FunctionProto,
  call: NodeProto,
): ReadonlyMap<string, AttributeProto> {
  const attributes = [...fn.attributeProto, ...call.attribute];
  return new Map(attributes.map((attribute) => [attribute.name ?? '', attribute]));
}

/** The importer goes down with the calls. */
const MAX_CALL_DEPTH = 200;

function requireShallow(depth: number, where: string): void {
  if (depth < MAX_CALL_DEPTH) return;
  throw new CompileLimitError(
    {
      where,
      got: `functions that call functions more than ${MAX_CALL_DEPTH} deep`,
      expected: 'fewer levels',
      remedy: 'Inline the functions of the model before it is loaded.',
    },
    { details: { limit: 'depth', reached: depth, most: MAX_CALL_DEPTH, where } },
  );
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
