import { forEachSymbol } from '../../../core/dims/dim-symbols.ts';
import type { Dim } from '../../../core/dims/dim.ts';
import { type Block, BlockTable, type Step } from '../../ir/walk/block.ts';
import { call, letIn } from '../../ir/build.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type IfExpr,
  type MatchExpr,
  spanOf,
  type VarExpr,
} from '../../ir/expr.ts';
import { operatorName } from '../../ir/operators/operator-name.ts';
import { ALLOC_STORAGE, ALLOC_TENSOR, CALL_INTO } from '../../ir/operators/machine-operators.ts';
import { DIM } from '../../ir/operators/scalar-operators.ts';
import { isShapeOperator, VIEW_AS } from '../../ir/operators/shape-operators.ts';
import { placeOfFunction } from '../../ir/place.ts';
import { runTask, sub, type Task } from '../../ir/task.ts';
import { mapFunctions, postOrder, variablesOf } from '../../ir/walk/visit.ts';
import { ShapeBinder, ShapeBounds } from './shape-binder.ts';
import { symbolsOfType } from '../../inference/sizes/gather-dim-facts.ts';
import { ShapeNeeds, tensorTypesOf } from '../../inference/sizes/shape-needs.ts';
import { ShapeSlots } from './shape-slots.ts';
import type { TypeInference } from '../../inference/type-inference.ts';
import { VIEW_OPERATOR } from '../../ir/host-values.ts';
import type { Pass } from '../pass.ts';

/**
 * Makes the work on sizes part of the program. A function has a shape heap with a slot for each
 * symbol and each dimension that is computed. Where a value tells symbols, `match_shape` stores them
 * and compares what is known, and one program fills the slots of all that the block needs and that
 * follows from them. What types leave open is compared before the call that requires it, with the
 * place in the source in the message. Slots that a branch fills count as empty after it.
 *
 * Parameters are checked. Those of functions that were closures have the right types, so that only sizes
 * that stand in several places are compared: the function may be called where nothing told them. In A-normal
 * form, after `plan-memory`.
 */
export const lowerShapes: Pass = {
  name: 'lower-shapes',
  run(module, { types }) {
    types.declare(module);
    return mapFunctions(module, (fn) =>
      postOrder(fn.body).some(isShapeCall) ? fn : new ShapeLowering(fn, types).run(),
    );
  },
};

class ShapeLowering {
  readonly #fn: FunctionExpr;
  readonly #types: TypeInference;
  readonly #blocks: BlockTable;
  readonly #shapes: ShapeNeeds;
  readonly #slots = new ShapeSlots();
  readonly #binder = new ShapeBinder(this.#slots);
  /** Symbols in the sizes of what is allocated. */
  #allocated: ReadonlySet<string> | undefined;
  readonly #checked = new Set<CallExpr>();

  constructor(fn: FunctionExpr, types: TypeInference) {
    this.#fn = fn;
    this.#types = types;
    this.#blocks = new BlockTable(fn.body);
    this.#shapes = new ShapeNeeds(types, this.#blocks);
  }

  run(): FunctionExpr {
    const { params, attributes, body } = this.#fn;
    const isChecked = attributes.captured === undefined;
    const bounds = isChecked ? new ShapeBounds(this.#fn) : undefined;
    const tensors = tensorTypesOf(params);
    for (const type of [...tensors, ...this.#shapes.computedIn(this.#fn)])
      this.#slots.declare(type);
    bounds?.declare(this.#slots);
    this.#slots.at(placeOfFunction(this.#fn));
    const steps: Step[] = [];
    this.#slots.writeTo(steps);
    const hasHeap = this.#slots.begin(isChecked && tensors.length > 0);
    if (!hasHeap && !postOrder(body).some(isDimCall)) return this.#fn;
    const own = params.length - (attributes.captured ?? 0);
    for (const [i, param] of params.entries()) {
      const where = `input "${param.name}"`;
      const isCompared = i < own;
      this.#slots.at(param.span);
      if (param.type !== undefined) {
        this.#binder.bind(param, param.type, { isChecked, isCompared, where });
      }
    }
    this.#slots.matchOpen();
    bounds?.emit(this.#slots);
    return { ...this.#fn, body: runTask(this.#block(body, steps)) };
  }

  /** The block that begins with an expression, behind some steps. */
  *#block(root: Expr, steps: Step[]): Task<Expr> {
    const block = this.#blocks.of(root);
    const outer = this.#slots.writeTo(steps);
    const needed = neededIn(block, this.#types);
    this.#slots.computeKnown(needed);
    for (const [index, { variable, value }] of block.steps.entries()) {
      this.#slots.at(spanOf(value) ?? variable.span);
      this.#beforeCall(block, index);
      steps.push({ variable, value: yield* sub(this.#value(value)) });
      if (this.#learn(variable)) this.#slots.computeKnown(needed);
    }
    this.#slots.at(spanOf(block.result));
    this.#beforeCall(block, block.steps.length);
    const result = yield* sub(this.#value(block.result));
    this.#slots.writeTo(outer);
    return steps.reduceRight((body, { variable, value }) => letIn(variable, value, body), result);
  }

  *#value(value: Expr): Task<Expr> {
    if (value.kind === 'call') return this.#call(value);
    if (value.kind === 'if') return yield* sub(this.#if(value));
    return value.kind === 'match' ? yield* sub(this.#match(value)) : value;
  }

  *#if(expr: IfExpr): Task<Expr> {
    const known = this.#slots.save();
    const thenBranch = yield* sub(this.#block(expr.thenBranch, []));
    this.#slots.restore(known);
    const elseBranch = yield* sub(this.#block(expr.elseBranch, []));
    this.#slots.restore(known);
    return { ...expr, thenBranch, elseBranch };
  }

  *#match(expr: MatchExpr): Task<Expr> {
    const known = this.#slots.save();
    const clauses = [];
    for (const { pattern, body } of expr.clauses) {
      const steps: Step[] = [];
      const outer = this.#slots.writeTo(steps);
      const { lastUse } = this.#blocks.of(body);
      // Fields that the clause does not use are not even read from the value, but for their sizes.
      for (const variable of variablesOf(pattern)) {
        if (lastUse.has(variable) || this.#isNeeded(variable)) this.#learn(variable);
      }
      this.#slots.writeTo(outer);
      clauses.push({ pattern, body: yield* sub(this.#block(body, steps)) });
      this.#slots.restore(known);
    }
    return { ...expr, clauses };
  }

  /** Returns true if an allocation depends on a size that the type of a variable names. */
  #isNeeded({ type }: VarExpr): boolean {
    if (type === undefined) return false;
    this.#allocated ??= symbolsOfAllocations(this.#fn, this.#types);
    return [...symbolsOfType(type)].some((symbol) => this.#allocated?.has(symbol));
  }

  #call(expr: CallExpr): Expr {
    this.#slots.at(expr.span);
    this.#check(expr);
    const { callee, args, attributes } = expr;
    if (callee.kind !== 'operator') return expr;
    const place = formatSpan(expr.span, callee.name);
    const dims = dimsOf(expr, this.#types);
    switch (callee.name) {
      case ALLOC_STORAGE: {
        const size = this.#slots.sizeOf(dims[0] ?? 0);
        return size === undefined ? expr : { ...expr, args: [size] };
      }
      case ALLOC_TENSOR: {
        const shape = this.#slots.shapeOf(dims);
        return shape === undefined ? expr : { ...expr, args: [...args, shape] };
      }
      case VIEW_OPERATOR: {
        const shape = this.#slots.shapeOf(dims, place);
        const types = { shape: dims };
        if (shape === undefined) return { ...expr, attributes: types };
        return call(VIEW_AS, [...args, shape], types, expr.span);
      }
      case DIM:
        return this.#slots.size(this.#dimension(args[0], Number(attributes['axis'])));
      default:
        return expr;
    }
  }

  #dimension(tensor: Expr | undefined, axis: number): Dim {
    const type = tensor === undefined ? undefined : this.#types.of(tensor);
    const dim = type?.kind === 'tensor' ? type.shape.at(axis) : undefined;
    if (dim === undefined) throw new Error('internal: dim of what is no tensor with that axis');
    return dim;
  }

  /** Checks and sizes of a kernel's call, before the first allocation for it. */
  #beforeCall(block: Block, index: number): void {
    const next = callAfterAllocation(block, index);
    if (next === undefined || this.#checked.has(next.call)) return;
    this.#slots.at(next.call.span);
    this.#check(next.call);
    this.#slots.compute(next.dims, formatSpan(next.call.span, 'a kernel'));
  }

  /** Compares dimensions that a call requires to be equal. */
  #check(expr: CallExpr): void {
    if (this.#checked.has(expr)) return;
    this.#checked.add(expr);
    for (const { left, right, message } of this.#shapes.checksOf(expr)) {
      const place = formatSpan(expr.span, '');
      const context = message.startsWith(place) ? message : `${place}: ${message}`;
      this.#slots.requireEqual(left, right, context);
    }
  }

  /**
   * Reads the symbols that the type of a variable mentions first from its value. Returns true if
   * there are any.
   */
  #learn(variable: VarExpr): boolean {
    const { name, type, span } = variable;
    if (type === undefined || !this.#binder.isNew(type)) return false;
    this.#slots.at(span);
    this.#binder.bind(variable, type, { isChecked: false, where: formatSpan(span, `%${name}`) });
    return true;
  }
}

/**
 * Dimensions that the steps of a block need, those in branches left out. Numbers of bytes come last,
 * for they are products of others.
 */
function neededIn({ steps, result }: Block, types: TypeInference): readonly Dim[] {
  const values = [...steps.map(({ value }) => value), result];
  const calls = values.filter((value) => value.kind === 'call');
  const [bytes, others] = [calls.filter(isAllocation), calls.filter((one) => !isAllocation(one))];
  return [...others, ...bytes].flatMap((one) => dimsOf(one, types));
}

function isAllocation(expr: CallExpr): boolean {
  return operatorName(expr) === ALLOC_STORAGE;
}

/**
 * The dimensions of what a call allocates or views. Those of a view are in its type: its attribute may
 * have them in another form, which has no slots.
 */
function dimsOf(expr: CallExpr, types: TypeInference): readonly Dim[] {
  const type = operatorName(expr) === VIEW_OPERATOR ? types.of(expr) : undefined;
  return type?.kind === 'tensor' ? type.shape : allocatedDims(expr);
}

function symbolsOfAllocations({ body }: FunctionExpr, types: TypeInference): ReadonlySet<string> {
  const symbols = new Set<string>();
  for (const expr of postOrder(body)) {
    if (expr.kind !== 'call') continue;
    for (const dim of dimsOf(expr, types)) forEachSymbol(dim, (symbol) => symbols.add(symbol));
  }
  return symbols;
}

function allocatedDims(expr: CallExpr): readonly Dim[] {
  const { attributes } = expr;
  const name = operatorName(expr);
  const given = name === ALLOC_STORAGE ? attributes['bytes'] : attributes['shape'];
  const dims: readonly Dim[] = Array.isArray(given) ? given : [];
  return name === ALLOC_STORAGE || name === ALLOC_TENSOR ? dims : [];
}

/** The call whose destination is allocated from a step on. */
function callAfterAllocation(
  { steps, result }: Block,
  index: number,
): { readonly call: CallExpr; readonly dims: readonly Dim[] } | undefined {
  const dims: Dim[] = [];
  for (let at = index; at <= steps.length; at++) {
    const value = steps[at]?.value ?? result;
    if (value.kind !== 'call') return undefined;
    const name = operatorName(value);
    if (name === CALL_INTO) return at === index ? undefined : { call: value, dims };
    if (name === ALLOC_STORAGE) dims.push(...allocatedDims(value));
    else if (name === ALLOC_TENSOR) dims.unshift(...allocatedDims(value));
    else return undefined;
  }
  return undefined;
}

/**
 * Returns true for a read of an axis's size. It is lowered even where the size is a number and
 * there is no heap.
 */
function isDimCall(expr: Expr): boolean {
  return operatorName(expr) === DIM;
}

function isShapeCall(expr: Expr): boolean {
  return isShapeOperator(operatorName(expr));
}
