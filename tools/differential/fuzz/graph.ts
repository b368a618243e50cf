import { evaluateDim, type Dim } from '../../../src/core/dims/dim.ts';
import type { HostTensor } from '../../../src/core/tensor/host-tensor.ts';
import type {
  Attributes,
  AttributeValue,
  TensorType,
} from '../../../src/core/contracts/primitive-function.ts';
import {
  call,
  callFunction,
  constant,
  func,
  global,
  ifElse,
  letIn,
  moduleOf,
  tuple,
  variable,
} from '../../../src/compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module, VarExpr } from '../../../src/compiler/ir/expr.ts';

/** A graph as data that can be cut and changed. Operands are positions of earlier nodes. */
export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly outputs: readonly number[];
  /** Sizes of the symbols in types. */
  readonly symbols: ReadonlyMap<string, number>;
}

export type GraphNode = LeafNode | CallNode | BranchNode;

type LeafNode = Leaf<'param'> | Leaf<'constant'>;

interface Leaf<Kind> {
  readonly kind: Kind;
  readonly type: TensorType;
  readonly value: HostTensor;
}

interface CallNode {
  readonly kind: 'call';
  readonly op: string;
  readonly inputs: readonly number[];
  readonly attributes: Attributes;
  readonly type: TensorType;
  /** Bound by a `let`, or called through a global function. */
  readonly form: 'plain' | 'let' | 'function';
}

interface BranchNode {
  readonly kind: 'if';
  /** The condition, a bool of rank 0, and both results. */
  readonly inputs: readonly [number, number, number];
  readonly type: TensorType;
}

/** Operands of a node. */
export function inputsOf(node: GraphNode): readonly number[] {
  return node.kind === 'call' || node.kind === 'if' ? node.inputs : [];
}

/** The numbers that stand for the symbols of a list of dimensions. Throws for one without. */
export function concreteShape(
  shape: readonly Dim[],
  symbols: ReadonlyMap<string, number>,
): readonly number[] {
  return shape.map((dim) => {
    const size = evaluateDim(dim, symbols);
    if (size === undefined) throw new Error('a dimension without a size');
    return size;
  });
}

/** Attributes with numbers for symbols. */
export function concreteAttributes(
  attributes: Attributes,
  symbols: ReadonlyMap<string, number>,
): Attributes {
  const bind = (value: AttributeValue): AttributeValue =>
    Array.isArray(value) && value.some((item) => typeof item === 'object')
      ? concreteShape(value, symbols)
      : Array.isArray(value)
        ? value.map((item: Dim) => (typeof item === 'string' ? (symbols.get(item) ?? item) : item))
        : value;
  return Object.fromEntries(Object.entries(attributes).map(([name, v]) => [name, bind(v)]));
}

/** The graph as a program, and the arguments of `main`. */
export function graphModule(graph: Graph): { module: Module; args: HostTensor[] } {
  return new ModuleWriter(graph).write();
}

class ModuleWriter {
  readonly #graph: Graph;
  readonly #exprs: Expr[] = [];
  readonly #params: VarExpr[] = [];
  readonly #args: HostTensor[] = [];
  readonly #functions: Record<string, FunctionExpr> = {};
  readonly #lets: { readonly variable: VarExpr; readonly value: Expr }[] = [];

  constructor(graph: Graph) {
    this.#graph = graph;
  }

  write(): { module: Module; args: HostTensor[] } {
    const { nodes, outputs } = this.#graph;
    for (const [i, node] of nodes.entries()) this.#exprs.push(this.#expr(node, i));
    const results = outputs.map((output) => this.#at(output));
    const [only] = results;
    const result = results.length === 1 && only !== undefined ? only : tuple(results);
    const body = this.#lets.reduceRight<Expr>(
      (inner, { variable, value }) => letIn(variable, value, inner),
      result,
    );
    const module = moduleOf({ main: func(this.#params, body), ...this.#functions });
    return { module, args: this.#args };
  }

  #expr(node: GraphNode, index: number): Expr {
    const named = (): VarExpr => variable(`v${index}`, node.type.dtype, node.type.shape);
    switch (node.kind) {
      case 'constant':
        return constant(node.value);
      case 'param': {
        const param = named();
        this.#params.push(param);
        this.#args.push(node.value);
        return param;
      }
      case 'if': {
        const [condition, yes, no] = node.inputs;
        return ifElse(this.#at(condition), this.#at(yes), this.#at(no));
      }
      case 'call':
        return this.#call(node, index, named);
      default:
        return node satisfies never;
    }
  }

  #call(node: CallNode, index: number, named: () => VarExpr): Expr {
    const operands = node.inputs.map((input) => this.#at(input));
    if (node.form === 'function') {
      this.#functions[`f${index}`] = wrapped(node, this.#graph.nodes);
      return callFunction(global(`f${index}`), operands);
    }
    const value = call(node.op, operands, node.attributes);
    if (node.form === 'plain') return value;
    const bound = named();
    this.#lets.push({ variable: bound, value });
    return bound;
  }

  #at(input: number): Expr {
    const expr = this.#exprs[input];
    if (expr === undefined) throw new Error(`node ${input} is read before it is made`);
    return expr;
  }
}

/** A function of one call, whose parameters have the types of the operands. */
function wrapped({ op, inputs, attributes }: CallNode, nodes: readonly GraphNode[]): FunctionExpr {
  const params = inputs.map((input, i) => {
    const type = nodes[input]?.type;
    if (type === undefined) throw new Error(`no node ${input}`);
    return variable(`x${i}`, type.dtype, type.shape);
  });
  return func(params, call(op, params, attributes));
}
