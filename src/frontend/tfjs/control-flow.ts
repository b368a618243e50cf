import { FormatError } from '../../core/errors.ts';
import type { NodeProto } from '../onnx/protobuf/schema.ts';
import { type GraphFunction, type GraphNode, object, text } from './graph-model.ts';
import { nodeNameOf, tensorflowNode, valuesOf } from './node-protos.ts';
import { attributeOf } from '../foreign/onnx-attribute.ts';
import { graphWith, nodeOf, readAttribute } from './protos.ts';

type Functions = ReadonlyMap<string, GraphFunction>;

/** The nodes that values depend on, with loops and branches as nodes with graphs of their own. */
export function structuredFlow(
  nodes: readonly GraphNode[],
  functions: Functions,
  values: readonly string[],
): NodeProto[] {
  return new FlowGraph(nodes, functions).nodesFor(values);
}

/** A graph that is being written: that of a model, the body of a loop, or a branch. */
interface Scope {
  /** Values that have another name here: what goes around a loop. */
  readonly given: ReadonlyMap<string, string>;
  /** Behind the names of what is computed here, where that is computed elsewhere too. */
  readonly suffix: string;
  /** The scope that `Enter` and `Switch` take values from. */
  readonly outer: Scope | undefined;
  readonly out: NodeProto[];
  readonly done: Set<string>;
}

/** A loop of nodes: `Enter` leads in, `Merge` and `NextIteration` around, `Switch` and `Exit` out. */
interface Frame {
  readonly name: string;
  readonly variables: readonly Variable[];
  /** The value that says whether the loop goes on. */
  readonly condition: string;
  /** Values from outside that stay. */
  readonly constants: readonly string[];
}

interface Variable {
  readonly merge: string;
  readonly first: string;
  readonly next: string;
  readonly current: string;
  readonly exit: string;
}

/** Nodes of TensorFlow, whose loops and branches are found and written as those of ONNX. */
class FlowGraph {
  readonly #nodes: ReadonlyMap<string, GraphNode>;
  readonly #functions: Functions;
  readonly #readers = new Map<string, GraphNode[]>();
  readonly #frames = new Map<string, Frame>();
  readonly #counts = new Map<string, number>();

  constructor(nodes: readonly GraphNode[], functions: Functions) {
    this.#nodes = new Map(nodes.map((node) => [node.name, node]));
    this.#functions = functions;
    for (const node of nodes) {
      for (const value of valuesOf(node)) {
        const name = nodeNameOf(value);
        const readers = this.#readers.get(name) ?? [];
        this.#readers.set(name, readers);
        readers.push(node);
        this.#count(value);
      }
    }
  }

  nodesFor(values: readonly string[]): NodeProto[] {
    for (const value of values) this.#count(value);
    const scope: Scope = {
      given: new Map(),
      suffix: '',
      outer: undefined,
      out: [],
      done: new Set(),
    };
    this.#write(scope, values);
    return scope.out;
  }

  /** How many values of each node are read, at least one. */
  #count(value: string): void {
    const name = nodeNameOf(value);
    const index = value === name ? 0 : Number(value.slice(name.length + 1));
    this.#counts.set(name, Math.max(this.#counts.get(name) ?? 1, index + 1));
  }

  /** Writes what values depend on, operands first. */
  #write(scope: Scope, values: readonly string[]): void {
    const stack = [...values];
    for (let value = stack.at(-1); value !== undefined; value = stack.at(-1)) {
      const node = this.#nodes.get(nodeNameOf(value));
      if (node === undefined || scope.given.has(value) || scope.done.has(node.name)) {
        stack.pop();
        continue;
      }
      const open = this.#needs(scope, node).filter((each) => !this.#isKnown(scope, each));
      if (open.length > 0 && stack.length <= 4 * this.#nodes.size + values.length) {
        stack.push(...open);
        continue;
      }
      if (open.length > 0)
        throw malformed(node, 'a node that depends on its own value', 'no circle');
      stack.pop();
      scope.done.add(node.name);
      this.#writeNode(scope, node);
    }
  }

  #isKnown(scope: Scope, value: string): boolean {
    const name = nodeNameOf(value);
    return scope.given.has(value) || scope.done.has(name) || !this.#nodes.has(name);
  }

  /** The values of a scope that a node reads. */
  #needs(scope: Scope, node: GraphNode): readonly string[] {
    switch (node.op) {
      case 'Exit': {
        const { variables, constants } = this.#frameOf(node);
        return [...variables.map(({ first }) => first), ...constants];
      }
      case 'Merge':
        return this.#branchInputs(node);
      case 'Enter':
      case 'Switch':
        return scope.outer === undefined ? valuesOf(node).slice(0, 1) : [];
      default:
        return valuesOf(node);
    }
  }

  #writeNode(scope: Scope, node: GraphNode): void {
    switch (node.op) {
      case 'Exit':
        return this.#writeLoop(scope, this.#frameOf(node));
      case 'Merge':
        return this.#writeBranches(scope, node);
      case 'Enter':
      case 'Switch':
      case 'LoopCond':
      case 'NextIteration':
        return;
      case 'If':
      case 'StatelessIf':
      case 'While':
      case 'StatelessWhile':
        return this.#writeCalls(scope, node);
      default: {
        const input = valuesOf(node).map((value) => this.#nameOf(scope, value));
        const proto = tensorflowNode(node, this.#counts.get(node.name) ?? 1, input);
        const output = proto.output.map((name) => name + scope.suffix);
        scope.out.push({ ...proto, output });
      }
    }
  }

  /** The name of a value in a scope. */
  #nameOf(scope: Scope, value: string): string {
    const given = scope.given.get(value);
    if (given !== undefined) return given;
    const node = this.#nodes.get(nodeNameOf(value));
    if (node === undefined) return value;
    const [input] = valuesOf(node);
    switch (node.op) {
      case 'Enter':
      case 'Switch':
        if (input !== undefined) return this.#nameOf(scope.outer ?? scope, input);
        break;
      case 'LoopCond':
      case 'NextIteration':
        if (input !== undefined) return this.#nameOf(scope, input);
        break;
      default:
    }
    return value + scope.suffix;
  }

  /** The loop that an `Exit` leads out of. */
  #frameOf(exit: GraphNode): Frame {
    const around = this.#operandOf(exit, 0, 'Switch');
    const enter = this.#operandOf(this.#operandOf(around, 0, 'Merge'), 0, 'Enter');
    const name = frameName(enter);
    const known = this.#frames.get(name);
    if (known !== undefined) return known;
    const variables: Variable[] = [];
    const constants: string[] = [];
    for (const each of this.#nodes.values()) {
      if (each.op !== 'Enter' || frameName(each) !== name) continue;
      const merge = this.#readersOf(each).find(({ op }) => op === 'Merge');
      if (merge === undefined) constants.push(operand(each, 0));
      else variables.push(this.#variable(merge, operand(each, 0)));
    }
    const condition = operand(this.#operandOf(around, 1, 'LoopCond'), 0);
    const frame = { name, variables, constants, condition };
    this.#frames.set(name, frame);
    return frame;
  }

  #variable(merge: GraphNode, first: string): Variable {
    const around = this.#readersOf(merge).find(
      (node) => node.op === 'Switch' && operand(node, 0) === merge.name,
    );
    const exit = around && this.#readersOf(around).find(({ op }) => op === 'Exit');
    return {
      merge: merge.name,
      first,
      next: operand(this.#operandOf(merge, 1, 'NextIteration'), 0),
      current: around === undefined ? `${merge.name}/current` : `${around.name}:1`,
      exit: exit?.name ?? `${merge.name}/exit`,
    };
  }

  #readersOf({ name }: GraphNode): readonly GraphNode[] {
    return this.#readers.get(name) ?? [];
  }

  #operandOf(node: GraphNode, index: number, op: string): GraphNode {
    const found = this.#nodes.get(nodeNameOf(operand(node, index)));
    if (found?.op === op) return found;
    throw malformed(node, `input ${index} from ${found?.op ?? 'a constant'}`, op);
  }

  /** A loop as ONNX has it: the condition is computed before it, and at the end of its body. */
  #writeLoop(scope: Scope, { name, variables, condition }: Frame): void {
    const { suffix } = scope;
    const copy = (out: NodeProto[], end: string, names: readonly string[]): Scope => {
      const given = new Map(variables.map(({ merge }, i) => [merge, names[i] ?? merge]));
      return { given, suffix: `${suffix}/${name}/${end}`, outer: scope, out, done: new Set() };
    };
    const first = variables.map((variable) => this.#nameOf(scope, variable.first));
    const before = copy(scope.out, 'first', first);
    this.#write(before, [condition]);
    const given = new Map(
      variables.flatMap(
        ({ merge, current }) =>
          [
            [current, current],
            [merge, current],
          ] as const,
      ),
    );
    const body: Scope = { given, suffix, outer: scope, out: [], done: new Set() };
    this.#write(
      body,
      variables.map(({ next }) => next),
    );
    const next = variables.map((variable) => this.#nameOf(body, variable.next));
    const after = copy(body.out, 'next', next);
    this.#write(after, [condition]);
    const results = [this.#nameOf(after, condition), ...next];
    const graph = graphWith(name + suffix, body.out, {
      inputs: [`${name}/iteration`, `${name}/goes`, ...variables.map(({ current }) => current)],
      results,
    });
    scope.out.push(
      nodeOf({
        opType: 'Loop',
        name,
        input: ['', this.#nameOf(before, condition), ...first],
        output: variables.map(({ exit }) => exit + suffix),
        attribute: [attributeOf('body', graph)],
      }),
    );
    for (const { exit } of variables) scope.done.add(exit);
  }

  /** The switches that a value of a branch depends on, which choose that branch. */
  #switchesOf(value: string): { readonly node: GraphNode; readonly isThen: boolean }[] {
    const found = new Map<string, { node: GraphNode; isThen: boolean }>();
    // How many branches within this one a value lies in.
    const stack: [value: string, depth: number][] = [[value, 0]];
    const seen = new Set<string>();
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      const [each, depth] = top;
      const node = this.#nodes.get(nodeNameOf(each));
      if (node === undefined || seen.has(`${depth} ${each}`)) continue;
      seen.add(`${depth} ${each}`);
      if (node.op === 'Switch' && depth === 0) {
        found.set(each, { node, isThen: each.endsWith(':1') });
        continue;
      }
      const inner = node.op === 'Merge' ? depth + 1 : node.op === 'Switch' ? depth - 1 : depth;
      const frame = node.op === 'Exit' ? this.#frameOf(node) : undefined;
      const next = frame
        ? [...frame.variables.map(({ first }) => first), ...frame.constants]
        : valuesOf(node);
      for (const input of next) stack.push([input, inner]);
    }
    return [...found.values()];
  }

  #branchInputs(merge: GraphNode): string[] {
    const switches = valuesOf(merge).flatMap((value) => this.#switchesOf(value));
    if (switches.length > 0) return [...new Set(switches.flatMap(({ node }) => valuesOf(node)))];
    throw malformed(merge, 'inputs of no branch', 'values that Switch leads to');
  }

  #writeBranches(scope: Scope, merge: GraphNode): void {
    const branches = valuesOf(merge).map((value) => ({ value, switches: this.#switchesOf(value) }));
    const [chosen] = branches.flatMap(({ switches }) => switches);
    const isThen = (index: number): boolean => {
      const own = branches[index]?.switches[0]?.isThen;
      return own ?? !(branches[1 - index]?.switches[0]?.isThen ?? false);
    };
    if (chosen === undefined || branches.length !== 2 || isThen(0) === isThen(1)) {
      throw malformed(merge, `${branches.length} inputs that are no two branches`, 'two branches');
    }
    const attribute = branches.map(({ value }, i) => {
      const { suffix } = scope;
      const inner: Scope = { given: new Map(), suffix, outer: scope, out: [], done: new Set() };
      this.#write(inner, [value]);
      const side = isThen(i) ? 'then_branch' : 'else_branch';
      const results = [this.#nameOf(inner, value)];
      const graph = graphWith(`${merge.name}/${side}${suffix}`, inner.out, { inputs: [], results });
      return attributeOf(side, graph);
    });
    const input = [this.#nameOf(scope, operand(chosen.node, 1))];
    const output = [merge.name + scope.suffix];
    scope.out.push(nodeOf({ opType: 'If', name: merge.name, input, output, attribute }));
  }

  /** A node that calls functions of the model's library. */
  #writeCalls(scope: Scope, node: GraphNode): void {
    const input = valuesOf(node).map((value) => this.#nameOf(scope, value));
    const call = (attribute: string, values: readonly string[], suffix: string) => {
      const name = functionName(node, attribute);
      const fn = this.#functions.get(name);
      if (fn === undefined) throw malformed(node, `no function ${name}`, 'one of the library');
      const output = fn.outputs.map((_, i) => `${node.name}/${suffix}${i}${scope.suffix}`);
      return nodeOf({
        opType: name,
        domain: FUNCTIONS,
        name: `${node.name}/${suffix}`,
        input: values,
        output,
      });
    };
    const count = this.#counts.get(node.name) ?? 1;
    if (node.op.endsWith('While')) {
      const first = call('cond', input, 'first');
      const current = input.map((_, i) => `${node.name}/current${i}${scope.suffix}`);
      const body = call('body', current, 'body');
      const going = call('cond', body.output, 'going');
      const graph = graphWith(node.name + scope.suffix, [body, going], {
        inputs: [`${node.name}/iteration`, `${node.name}/goes`, ...current],
        results: [...going.output, ...body.output],
      });
      const attribute = [attributeOf('body', graph)];
      const output = input.map(
        (_, i) => (i === 0 ? node.name : `${node.name}:${i}`) + scope.suffix,
      );
      const inputs = ['', ...first.output, ...input];
      scope.out.push(
        first,
        nodeOf({ opType: 'Loop', name: node.name, input: inputs, output, attribute }),
      );
      return;
    }
    const [condition = '', ...given] = input;
    const attribute = (['then_branch', 'else_branch'] as const).map((side) => {
      const body = call(side, given, side);
      const results = body.output.slice(0, count);
      return attributeOf(side, graphWith(`${node.name}/${side}`, [body], { inputs: [], results }));
    });
    const output = Array.from(
      { length: count },
      (_, i) => (i === 0 ? node.name : `${node.name}:${i}`) + scope.suffix,
    );
    scope.out.push(
      nodeOf({ opType: 'If', name: node.name, input: [condition], output, attribute }),
    );
  }
}

/** The domain of functions of the model. */
export const FUNCTIONS = 'tensorflow.functions';

function functionName(node: GraphNode, attribute: string): string {
  const { func } = object(node.attr[attribute], `node "${node.name}", ${attribute}`);
  return text(object(func, `node "${node.name}", ${attribute}`)['name'], `node "${node.name}"`);
}

function frameName(node: GraphNode): string {
  const name = readAttribute('frame_name', node.attr['frame_name'] ?? {});
  if (typeof name === 'string') return name;
  throw malformed(node, 'no frame_name', 'the name of a loop');
}

function operand(node: GraphNode, index: number): string {
  const value = valuesOf(node)[index];
  if (value !== undefined) return value;
  throw malformed(node, `no input ${index}`, 'one');
}

function malformed({ name, op }: GraphNode, got: string, expected: string): FormatError {
  return new FormatError({ where: `node "${name}" (${op})`, got, expected });
}
