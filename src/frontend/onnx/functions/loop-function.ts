import * as ir from '../../../compiler/ir/build.ts';
import type { Expr, FunctionExpr, VarExpr } from '../../../compiler/ir/expr.ts';
import {
  type AdtTypeNode,
  ANY_TYPE,
  INT_TYPE,
  sameType,
  tensorType,
  type TensorTypeNode,
  type Type,
} from '../../../compiler/ir/type.ts';
import { bindersOf, postOrder } from '../../../compiler/ir/walk/visit.ts';
import { isOperatorCall } from '../../../compiler/ir/operators/operator-name.ts';
import { forEachSymbol, isUnknownDim } from '../../../core/dims/dim-symbols.ts';
import { type Dim, MAX_DIMENSION } from '../../../core/dims/dim.ts';
import type { DType } from '../../../core/tensor/dtype.ts';
import { FormatError } from '../../../core/errors.ts';
import type { TensorType } from '../../../core/contracts/primitive-function.ts';
import type { Operators } from '../../../ops/operators.ts';
import { closedType, isOpen, joinTypes } from '../composite-values.ts';
import { Block, FunctionFrame } from '../graph-scope.ts';
import { hostInteger } from '../sizes/host-integer.ts';
import type { ImportNode } from '../import-node.ts';
import { sameOrUnknown } from '../paths/join-paths.ts';
import { stackFunction } from './stack-function.ts';

/** A tensor of rank 0 that counts the iterations. */
interface Counter {
  readonly dtype: DType;
  readonly first: number;
  readonly step: number;
}

/** The arguments of a loop's body in each iteration. */
interface IterationInputs {
  readonly block: Block;
  readonly counters: readonly Expr[];
  readonly condition: Expr;
  readonly carried: readonly Expr[];
}

interface IterationOutputs {
  /** The condition to go on; undefined for a loop without one. */
  readonly condition: Expr | undefined;
  readonly carried: readonly Expr[];
  /** Results of which the iterations' are stacked along a new first axis. */
  readonly scanned: readonly Expr[];
}

interface LoopSpec {
  /** The most iterations there are; undefined without a limit. */
  readonly trip: Dim | undefined;
  /** The condition to begin, a bool tensor of rank 0; undefined for a loop that always begins. */
  readonly condition: Expr | undefined;
  readonly counters: readonly Counter[];
  readonly initial: readonly Expr[];
  /** The types that the model gives carried values inside the body; for sequences that begin empty. */
  readonly declared?: readonly (Type | undefined)[];
  /** For each scanned output, whether the last iteration's comes first. */
  readonly isReversed: (output: number) => boolean;
  readonly body: (inputs: IterationInputs) => IterationOutputs;
}

interface LoopResults {
  readonly carried: readonly Expr[];
  readonly scanned: readonly Expr[];
}

/**
 * A loop as a global function that calls itself at its end, and its call in the node's block. Values
 * of the scope around it, and dimensions, become parameters. Where the shape of a carried value
 * changes between iterations its dimension gets a name, and the body is imported again.
 *
 * Throws UnsupportedError where the rank of a carried value changes.
 */
export function importLoop(node: ImportNode, spec: LoopSpec): LoopResults {
  return new LoopFunction(node, spec).build();
}

/** The body of a loop, imported for certain types of the values that it carries. */
interface Iteration {
  readonly frame: FunctionFrame;
  readonly block: Block;
  readonly counters: readonly VarExpr[];
  readonly condition: VarExpr;
  readonly carried: readonly VarExpr[];
  readonly outputs: IterationOutputs;
}

/** A parameter of the function with what the first and every following call give it. */
interface State {
  readonly param: VarExpr;
  readonly first: Expr;
  readonly next: Expr;
}

const BOOL = tensorType({ dtype: 'bool', shape: [] });

class LoopFunction {
  readonly #node: ImportNode;
  readonly #spec: LoopSpec;
  /** Dimensions that differ between iterations. */
  readonly #varying = new Set<string>();

  constructor(node: ImportNode, spec: LoopSpec) {
    this.#node = node;
    this.#spec = spec;
  }

  build(): LoopResults {
    const { context, block, span } = this.#node;
    const { iteration, types } = this.#settle();
    const { outputs } = iteration;
    const results = types.map((type) => (type.kind === 'tensor' ? this.#outside(type) : type));
    const elements = outputs.scanned.map((value) => elementType(this.#node.type(value)));
    const resultType = { kind: 'tuple' as const, fields: [...results, ...elements.map(listOf)] };
    const name = context.freshFunctionName(`loop.${span.source}`);
    const { fn, args } = this.#function(iteration, { name, elements });
    context.functions.set(name, { ...fn, resultType, span });
    const call = ir.callFunction(ir.global(name), args, span);
    const all = block.bind(call, { name: 'looped', type: resultType, span });
    return {
      carried: results.map((type, i) => {
        const result = ir.projection(all, i);
        if (type.kind !== 'tensor') return block.bind(result, { name: 'looped', type, span });
        return type.shape.some(isUnknownDim) ? block.name(result, type, span) : result;
      }),
      scanned: outputs.scanned.map((value, i) =>
        this.#stack(ir.projection(all, results.length + i), this.#node.type(value), {
          isReversed: this.#spec.isReversed(i),
        }),
      ),
    };
  }

  /** Imports the body until the types of what it carries hold for every iteration. */
  #settle(): { iteration: Iteration; types: readonly Type[] } {
    const { functions } = this.#node.context;
    let types = this.#spec.initial.map((value) => this.#initialType(value));
    for (;;) {
      const before = new Set(functions.keys());
      const iteration = this.#tryBody(types);
      if (iteration === undefined) {
        types = types.map((type, i) => joinTypes(type, this.#spec.declared?.[i] ?? type));
        types = types.map(closedType);
        continue;
      }
      const { carried } = iteration.outputs;
      const widened = types.map((type, i) => this.#widen(type, carried[i], i));
      if (widened.every((type, i) => type === types[i])) {
        if (!types.some(isOpen)) return { iteration, types };
        // Nothing is ever in them.
        types = types.map(closedType);
        continue;
      }
      // The functions of loops inside it were for types that are too narrow.
      for (const name of functions.keys()) if (!before.has(name)) functions.delete(name);
      types = widened;
    }
  }

  /** The body; undefined where it cannot be imported for a sequence that is empty, as it is at first. */
  #tryBody(types: readonly Type[]): Iteration | undefined {
    try {
      return this.#importBody(types);
    } catch (thrown) {
      if (thrown instanceof FormatError && types.some(isOpen)) return undefined;
      throw thrown;
    }
  }

  /** The type of the value that is carried into the first iteration. */
  #initialType(value: Expr): Type {
    const { composites, types } = this.#node.context;
    const own = composites.has(value) ? this.#node.dataType(value) : types.of(value);
    return own.kind === 'tensor' ? tensorType(own) : own;
  }

  #importBody(types: readonly Type[]): Iteration {
    const { context, span, block: outer } = this.#node;
    const frame = new FunctionFrame(context, outer);
    const block = new Block(context, frame);
    const carried = types.map((type, i) => {
      const variable = ir.variableOf(`carried${i}`, type, span);
      frame.addCarriers(variable, type);
      return variable;
    });
    const counters = this.#spec.counters.map(({ dtype }, i) =>
      ir.variableOf(`counter${i}`, tensorType({ dtype, shape: [] }), span),
    );
    const condition = ir.variableOf('condition', BOOL, span);
    // A sequence of which only the body may tell the type is empty.
    const values = carried.map((variable, i) => {
      const first = this.#spec.initial[i];
      return first !== undefined && isOpen(types[i] ?? ANY_TYPE) ? first : variable;
    });
    const outputs = this.#spec.body({ block, counters, condition, carried: values });
    return { frame, block, counters, condition, carried, outputs };
  }

  /** The type with a name for each dimension that the next iteration may have otherwise. */
  #widen(type: Type, next: Expr | undefined, index: number): Type {
    if (type.kind !== 'tensor') return this.#widenData(type, next);
    const { dtype, shape } = next === undefined ? type : this.#node.type(next);
    if (dtype !== type.dtype) {
      const got = `value ${index} as ${type.dtype}, and as ${dtype} after an iteration`;
      throw this.#node.malformed(got, 'one dtype');
    }
    if (shape.length !== type.shape.length) {
      throw this.#node.unsupported(
        `value ${index} of rank ${type.shape.length}, and of rank ${shape.length} after an iteration`,
        'the same rank in all iterations',
      );
    }
    const wide = type.shape.map((dim, axis) => {
      if (typeof dim === 'string' && this.#varying.has(dim)) return dim;
      if (sameOrUnknown(dim, shape[axis] ?? '?') !== '?') return dim;
      const symbol = this.#node.context.freshSymbol();
      this.#varying.add(symbol);
      return symbol;
    });
    return wide.every((dim, axis) => dim === type.shape[axis]) ? type : { ...type, shape: wide };
  }

  /** The type of sequences that the next iteration may have with other elements. */
  #widenData(type: Type, next: Expr | undefined): Type {
    if (next === undefined) return type;
    const joined = joinTypes(type, this.#node.dataType(next));
    if (joined.kind === type.kind) return sameType(joined, type) ? type : joined;
    throw this.#node.malformed(
      'a carried value that is not always a sequence',
      'one kind of value',
    );
  }

  /** The function, and the arguments of its first call. */
  #function(
    iteration: Iteration,
    { name, elements }: { name: string; elements: readonly TensorTypeNode[] },
  ): { fn: FunctionExpr; args: readonly Expr[] } {
    const { frame, block, outputs } = iteration;
    const steps = this.#steps(iteration);
    const carried = iteration.carried.map((param, i): State => {
      const first = this.#spec.initial[i] ?? param;
      const next = outputs.carried[i] ?? param;
      const { type } = param;
      if (type === undefined || type.kind === 'tensor') return { param, first, next };
      return { param, first: this.#node.data(first, type), next: this.#node.data(next, type) };
    });
    const lists = elements.map((type, i): State => {
      const param = ir.variableOf(`stack${i}`, listOf(type));
      const element = this.#asElement(outputs.scanned[i]);
      return {
        param,
        first: ir.construct('Nil', []),
        next: ir.construct('Cons', [element, param]),
      };
    });
    const states = [...steps.states, ...carried, ...lists];
    const done = (): Expr => ir.tuple([...carried, ...lists].map(({ param }) => param));
    const again = ir.callFunction(
      ir.global(name),
      states.map(({ next }) => next),
      this.#node.span,
    );
    const draft = steps.whether(block.wrap(again), done);
    this.#captureSymbols(frame, [draft, ...states.map(({ param }) => param)]);
    const captures = frame.captures;
    // Now that all captures are known.
    const full = { ...again, args: [...again.args, ...captures.map(({ param }) => param)] };
    return {
      fn: ir.func(
        [...states, ...captures].map(({ param }) => param),
        steps.whether(block.wrap(full), done),
      ),
      args: [...states.map(({ first }) => first), ...captures.map(({ value }) => value)],
    };
  }

  /** The counter of the iterations, and the tests before each. */
  #steps(iteration: Iteration): {
    states: readonly State[];
    whether: (again: Expr, done: () => Expr) => Expr;
  } {
    const { condition, outputs } = iteration;
    const isFixed =
      outputs.condition === undefined || isFixedCondition(outputs.condition, condition);
    const isRead = readBy(iteration, { withCondition: !isFixed });
    const states: State[] = [];
    const first = this.#spec.condition;
    const limit = this.#limit(isFixed ? first : undefined);
    const step = limit === undefined ? undefined : ir.variableOf('step', INT_TYPE);
    let most: Expr | undefined = limit;
    if (limit !== undefined && step !== undefined) {
      states.push({ param: step, first: ir.int(0), next: ir.call('int_add', [step, ir.int(1)]) });
      if (limit.kind !== 'int') {
        const param = ir.variableOf('limit', INT_TYPE);
        states.push({ param, first: limit, next: param });
        most = param;
      }
    }
    for (const [i, { dtype, first: begin, step: by }] of this.#spec.counters.entries()) {
      const param = iteration.counters[i];
      if (param === undefined || !isRead(param)) continue;
      const next = this.#node.call('add', [param, this.#node.scalar(by, dtype)]);
      states.push({ param, first: this.#node.scalar(begin, dtype), next });
    }
    if (!isFixed || isRead(condition)) {
      const next = outputs.condition ?? condition;
      states.push({ param: condition, first: first ?? this.#node.scalar(1, 'bool'), next });
    }
    return {
      states,
      whether: (again, done) => {
        const repeated = isFixed ? again : ir.ifElse(condition, again, done());
        if (step === undefined || most === undefined) return repeated;
        return ir.ifElse(ir.call('int_lt', [step, most]), repeated, done());
      },
    };
  }

  /** The most iterations, none where a condition that never changes is false. */
  #limit(condition: Expr | undefined): Expr | undefined {
    const { trip } = this.#spec;
    const isTrue = condition === undefined || isConstantTrue(condition);
    const limit = trip === undefined ? undefined : hostInteger(trip, this.#node.block.frame);
    if (isTrue) return limit;
    return ir.ifElse(condition, limit ?? ir.int(MAX_DIMENSION), ir.int(0));
  }

  /** Makes every symbol that the function mentions a dimension of one of its parameters. */
  #captureSymbols(frame: FunctionFrame, parts: readonly Expr[]): void {
    const seen = new Set<string>();
    const visit = (symbol: string): void => {
      if (seen.has(symbol)) return;
      seen.add(symbol);
      if (frame.carrier(symbol) !== undefined) return;
      throw this.#node.unsupported(
        `the dimension ${symbol} inside`,
        'dimensions of tensors that it reads',
      );
    };
    const { operators } = this.#node.context.types;
    for (const part of parts) forEachSymbolOf(part, operators, visit);
    for (let count = -1; count !== frame.captures.length; ) {
      count = frame.captures.length;
      for (const { param } of frame.captures) forEachSymbolOf(param, operators, visit);
    }
  }

  /** The type of a result with `?` for what only the function knows. */
  #outside({ dtype, shape }: TensorType): TensorTypeNode {
    const { frame } = this.#node.block;
    return tensorType({
      dtype,
      shape: shape.map((dim) => {
        let isKnown = !isUnknownDim(dim);
        forEachSymbol(dim, (symbol) => {
          isKnown &&= !this.#varying.has(symbol) && frame.carrier(symbol) !== undefined;
        });
        return isKnown ? dim : '?';
      }),
    });
  }

  #asElement(value: Expr | undefined): Expr {
    if (value === undefined) throw new Error('internal: a scanned output is missing');
    return this.#node.reshape(value, [1, ...this.#node.shape(value)]);
  }

  /** The elements of a list, the last one first, as one tensor. */
  #stack(list: Expr, type: TensorType, { isReversed }: { isReversed: boolean }): Expr {
    const { context, block, span } = this.#node;
    const { dtype, shape } = this.#outside(type);
    const empty = this.#node.call('full', [], {
      shape: [0, ...shape.map((dim) => (isUnknownDim(dim) ? 0 : dim))],
      value: 0,
      dtype,
    });
    const element = elementType(type);
    const name = stackFunction(context, element);
    const ordered = isReversed ? list : ir.callFunction(ir.global('reverse'), [list]);
    const value = ir.callFunction(ir.global(name), [ordered, empty], span);
    const stacked = block.name(value, element, span);
    const [count = 0, ...rest] = this.#node.shape(stacked);
    const known = rest.map((dim, axis) => {
      const outer = shape[axis] ?? '?';
      return isUnknownDim(outer) ? dim : outer;
    });
    return this.#node.reshape(stacked, [count, ...known]);
  }
}

/** A bool tensor of rank 0. Throws FormatError for another dtype. */
export function conditionOf(node: ImportNode, expr: Expr): Expr {
  const { dtype, shape } = node.type(expr);
  if (dtype !== 'bool') throw node.malformed(`a condition of ${dtype}`, 'bool');
  const tensor = node.tensor(expr);
  return shape.length === 0 ? tensor : node.reshape(tensor, []);
}

export function isConstantTrue(expr: Expr): boolean {
  return expr.kind === 'constant' && Number(expr.value.elements[0] ?? 0) !== 0;
}

function isFixedCondition(next: Expr, condition: Expr): boolean {
  return next === condition || isConstantTrue(next);
}

/** Which variables an iteration reads. */
function readBy(
  { block, outputs }: Iteration,
  { withCondition }: { withCondition: boolean },
): (variable: Expr) => boolean {
  const { condition, carried, scanned } = outputs;
  const tested = withCondition && condition !== undefined ? [condition] : [];
  const results = ir.tuple([...tested, ...carried, ...scanned]);
  const read = new Set(postOrder(block.wrap(results)));
  return (variable) => read.has(variable);
}

function listOf(element: TensorTypeNode): AdtTypeNode {
  return { kind: 'adt', name: 'List', args: [element] };
}

/** The element type of a list: symbols have no meaning in it. */
function elementType({ dtype, shape }: TensorType): TensorTypeNode {
  const known = shape.map((dim) => (typeof dim === 'number' ? dim : '?'));
  return tensorType({ dtype, shape: ['?', ...known] });
}

/** Symbols in attributes, and in the types of variables. */
function forEachSymbolOf(root: Expr, operators: Operators, visit: (symbol: string) => void): void {
  const ofType = (type: Type | undefined): void => {
    if (type?.kind === 'tensor') for (const dim of type.shape) forEachSymbol(dim, visit);
    if (type?.kind === 'tuple') for (const field of type.fields) ofType(field);
  };
  for (const expr of postOrder(root)) {
    if (expr.kind === 'var') ofType(expr.type);
    for (const { type } of bindersOf(expr)) ofType(type);
    if (!isOperatorCall(expr)) continue;
    const specs = operators.get(expr.callee.name)?.attributes ?? {};
    for (const [name, value] of Object.entries(expr.attributes)) {
      if (specs[name]?.type !== 'dims' || !Array.isArray(value)) continue;
      const dims: readonly Dim[] = value;
      for (const dim of dims) forEachSymbol(dim, visit);
    }
  }
}
