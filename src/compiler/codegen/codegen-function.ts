import type {
  FunctionBuilder,
  Operand,
  RegisterOperand,
} from '../../bytecode/build/function-builder.ts';
import { isSamePlace } from '../../core/contracts/source-place.ts';
import { isAtom } from '../ir/walk/atoms.ts';
import { type Block, type BlockTable, destinationOf } from '../ir/walk/block.ts';
import {
  type CallExpr,
  type Expr,
  type FunctionExpr,
  type IfExpr,
  type MatchExpr,
  type Span,
  spanOf,
  type VarExpr,
  type Clause,
  formatSpan,
} from '../ir/expr.ts';
import { CALL_INTO } from '../ir/operators/machine-operators.ts';
import { placeOfFunction } from '../ir/place.ts';
import { runTask, type Task } from '../ir/task.ts';
import type { Type } from '../ir/type.ts';
import { postOrder, variablesOf } from '../ir/walk/visit.ts';
import { emitMachineCall } from './codegen-machine.ts';
import { asRegister, Emitter } from './emitter.ts';
import type { FunctionSource, ModuleContext } from './module-context.ts';

/** Tells the builder of a function which places of the source its instructions come from. */
class InstructionPlaces {
  readonly #code: FunctionBuilder;
  readonly #blocks: BlockTable;
  readonly #known = new Map<FunctionExpr, readonly Span[]>();

  constructor(code: FunctionBuilder, blocks: BlockTable) {
    this.#code = code;
    this.#blocks = blocks;
  }

  /** The first instructions belong to the function itself. */
  enter(fn: FunctionExpr): void {
    const span = placeOfFunction(fn);
    if (span !== undefined) this.#code.at(span);
  }

  /** The next instructions compute a value. One without a place belongs to what is before it. */
  at(value: Expr): void {
    const primitive = this.#blocks.kernel(value);
    const nodes = primitive === undefined ? [] : this.#placesIn(primitive);
    const span = spanOf(value);
    if (nodes.length > 0) this.#code.at(...nodes);
    else if (span !== undefined && value.kind !== 'var') this.#code.at(span);
  }

  /** The places of the calls that a kernel computes, in their order. */
  #placesIn(primitive: FunctionExpr): readonly Span[] {
    const known = this.#known.get(primitive);
    if (known !== undefined) return known;
    const found: Span[] = [];
    for (const expr of postOrder(primitive.body)) {
      if (expr.kind !== 'call' || expr.span === undefined) continue;
      const { span } = expr;
      if (!found.some((other) => isSamePlace(other, span))) found.push(span);
    }
    this.#known.set(primitive, found);
    return found;
  }
}

const NO_VARIABLES: ReadonlySet<VarExpr> = new Set();

const RETURN: Destination = { kind: 'return' };

/**
 * Emits one function in A-normal form. Every variable has a register. Values are immutable and counted by reference, and a kernel writes only to tensors
 * that were allocated for its results; so any two values may share a storage, and parameters and
 * constants may be returned as they are.
 */
export class FunctionGenerator implements BlockEmitter {
  readonly emitter: Emitter;
  readonly module: ModuleContext;
  readonly #source: FunctionSource;
  readonly #operands = new Map<VarExpr, Operand>();
  #places: InstructionPlaces | undefined;

  constructor(module: ModuleContext, source: FunctionSource) {
    const { fn } = source;
    this.module = module;
    this.#source = source;
    const names = uniqueNames(fn.params.map((param) => param.name));
    const options = source.signature === undefined ? {} : { signature: source.signature };
    const code = module.builder.function(source.name, names, options);
    this.emitter = new Emitter(module.builder, code, module.shapePrograms);
    for (const [i, param] of fn.params.entries()) this.#operands.set(param, code.r(i));
  }

  generate(): void {
    const { fn, blocks } = this.#source;
    if (this.#source.isMapped) this.#places = new InstructionPlaces(this.emitter.code, blocks);
    this.#places?.enter(fn);
    runTask(this.block(blocks.of(fn.body), RETURN));
  }

  *block(block: Block, destination: Destination): Task<void> {
    const { steps, result } = block;
    // The result of the block is in its place from the beginning.
    const targets = destination.kind === 'return' ? NO_VARIABLES : targetsOf(block);
    for (const { variable, value } of steps) {
      this.at(value);
      const into = targets.has(variable) && destination.kind !== 'return' ? destination : undefined;
      if (isBranching(value)) {
        const register = into ?? this.emitter.code.fresh();
        this.#operands.set(variable, register);
        yield this.#branches(value, register);
      } else if (this.#source.blocks.primitive(variable) === undefined) {
        this.#operands.set(variable, this.#value(value, into));
      }
    }
    this.at(result);
    if (isBranching(result)) yield this.#branches(result, destination);
    else if (destination.kind === 'return') {
      this.emitter.code.ret(isAtom(result) ? this.operand(result) : this.#value(result));
    } else if (result.kind !== 'var' || !targets.has(result)) this.#value(result, destination);
  }

  operand(expr: Expr): Operand {
    switch (expr.kind) {
      case 'constant':
        return this.module.builder.tensor(expr.value);
      case 'int':
        return this.emitter.code.imm(expr.value);
      case 'global':
        return this.module.builder.functionReference(this.module.functionName(expr.name));
      case 'constructor':
        return this.module.builder.functionReference(this.module.constructorFunction(expr.name));
      case 'var': {
        const operand = this.#operands.get(expr);
        if (operand !== undefined) return operand;
        throw new Error(`internal: variable ${expr.name} is used before it is bound`);
      }
      default:
        throw new Error(`internal: a ${expr.kind} is no operand in A-normal form`);
    }
  }

  at(value: Expr): void {
    this.#places?.at(value);
  }

  /** Binds a variable of a pattern to the register that holds its value. */
  bind(variable: VarExpr, operand: Operand): void {
    this.#operands.set(variable, operand);
  }

  blockOf(root: Expr): Block {
    return this.#source.blocks.of(root);
  }

  /** Undefined for a variable that a pass made and gave no type. */
  typeOf(expr: Expr): Type | undefined {
    return expr.kind === 'var' ? expr.type : this.module.types.of(expr);
  }

  *#branches(expr: IfExpr | MatchExpr, to: Destination): Task<void> {
    if (expr.kind === 'if') yield* this.#if(expr, to);
    else yield* emitMatch(this, expr, to);
  }

  *#if(expr: IfExpr, destination: Destination): Task<void> {
    const { code } = this.emitter;
    const otherwise = code.label();
    const end = code.label();
    code.if(this.#condition(expr.condition), otherwise);
    yield this.block(this.blockOf(expr.thenBranch), destination);
    if (destination.kind !== 'return') code.goto(end);
    code.place(otherwise);
    yield this.block(this.blockOf(expr.elseBranch), destination);
    // Both ways to `end` are gone when the branches return.
    code.place(end);
  }

  #condition(condition: Expr): RegisterOperand {
    const operand = this.operand(condition);
    const isInt = this.typeOf(condition)?.kind === 'scalar';
    if (isInt && operand.kind === 'register') return asRegister(operand);
    return this.emitter.builtin('read_if_cond', [operand]);
  }

  /** The register or constant that holds a value; `into` that register, if one is given. */
  #value(value: Expr, into?: RegisterOperand): Operand {
    switch (value.kind) {
      case 'call':
        return this.#call(value, into);
      case 'tuple':
        return this.emitter.builtin('make_tuple', this.#operandsOf(value.fields), into);
      case 'projection':
        return this.emitter.builtin('tuple_get', [this.operand(value.tuple), value.index], into);
      default: {
        const operand = this.operand(value);
        // A register of its own, for it may live longer than the other variable.
        const isCopied = into !== undefined || operand.kind === 'register';
        return isCopied ? this.emitter.builtin('move', [operand], into) : operand;
      }
    }
  }

  #operandsOf(exprs: readonly Expr[]): Operand[] {
    return exprs.map((expr) => this.operand(expr));
  }

  #call(expr: CallExpr, into?: RegisterOperand): Operand {
    const { callee } = expr;
    const primitive = this.#source.blocks.primitive(callee);
    if (primitive !== undefined) return this.#kernel(expr, primitive, into);
    if (callee.kind === 'operator') return this.#operator(expr, callee.name, into);
    const args = this.#operandsOf(expr.args);
    const options = into === undefined ? {} : { into };
    if (callee.kind === 'global') {
      return this.emitter.code.call(this.module.functionName(callee.name), args, options);
    }
    if (callee.kind === 'constructor') {
      return this.emitter.builtin('make_adt', [this.module.tagOf(callee.name), ...args], into);
    }
    return this.emitter.builtin('invoke_closure', [this.operand(callee), ...args], into);
  }

  #operator(expr: CallExpr, name: string, into?: RegisterOperand): Operand {
    if (name === CALL_INTO) return this.#callInto(expr);
    const { emitter } = this;
    return emitMachineCall(name, { call: expr, args: this.#operandsOf(expr.args), into, emitter });
  }

  /** A kernel whose result has a size that is known only when it has been computed. */
  #kernel(expr: CallExpr, primitive: FunctionExpr, into?: RegisterOperand): Operand {
    const name = this.module.primitives.nameOf(primitive);
    const args = this.#kernelOperands(expr.args, primitive);
    return this.emitter.code.call(name, args, into === undefined ? {} : { into });
  }

  /** A kernel that writes to its last operand, which is the value then. */
  #callInto(expr: CallExpr): Operand {
    const primitive = this.#source.blocks.kernel(expr);
    const args = primitive && this.#kernelOperands(expr.args.slice(1), primitive);
    const target = args?.at(-1);
    if (primitive === undefined || args === undefined || target === undefined) {
      throw new Error('internal: call_into without a primitive function or a destination');
    }
    this.emitter.code.call(this.module.primitives.nameOf(primitive), args);
    return target;
  }

  #kernelOperands(exprs: readonly Expr[], { attributes: { device } }: FunctionExpr): Operand[] {
    return exprs.map((arg) =>
      arg.kind === 'constant' ? this.module.builder.tensor(arg.value, device) : this.operand(arg),
    );
  }
}

function isBranching(expr: Expr): expr is IfExpr | MatchExpr {
  return expr.kind === 'if' || expr.kind === 'match';
}

/** The variables whose value is that of the block, of those that it binds. */
function targetsOf({ steps, result }: Block): ReadonlySet<VarExpr> {
  const targets = new Set<VarExpr>();
  for (let value: Expr | undefined = result; value !== undefined; ) {
    const target: VarExpr | undefined = value.kind === 'var' ? value : destinationOf(value);
    const step = steps.find(({ variable }) => variable === target);
    if (target === undefined || step === undefined || targets.has(target)) break;
    targets.add(target);
    value = destinationOf(step.value);
  }
  return targets;
}

function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((given) => {
    const name = given === '' ? 'unnamed' : given;
    let candidate = name;
    for (let i = 1; taken.has(candidate); i++) candidate = `${name}_${i}`;
    taken.add(candidate);
    return candidate;
  });
}

/** Where the value of a block goes: out of the function, or to a register that branches share. */
type Destination = { readonly kind: 'return' } | RegisterOperand;

/** The emitter of the function around a `match`. */
interface BlockEmitter {
  readonly emitter: Emitter;
  readonly module: ModuleContext;
  operand(expr: Expr): Operand;
  blockOf(root: Expr): Block;
  block(block: Block, destination: Destination): Task<void>;
  /** Sets the value that the next instructions compute, for their place in the source. */
  at(value: Expr): void;
  /** Binds a variable of a pattern to the register that holds its value. */
  bind(variable: VarExpr, operand: Operand): void;
}

/** Emits a `match` of one constructor, as `lower-match` leaves it: a test of the tag per clause. */
function* emitMatch(
  generator: BlockEmitter,
  expr: MatchExpr,
  destination: Destination,
): Task<void> {
  const { emitter, module } = generator;
  const { code } = emitter;
  const { clauses, complete } = expr;
  const value = generator.operand(expr.value);
  const isTested = clauses[0]?.pattern.kind !== 'wildcard' && (clauses.length > 1 || !complete);
  const tag = isTested ? emitter.builtin('get_tag', [value]) : undefined;
  const end = code.label();
  for (const [index, clause] of clauses.entries()) {
    const { pattern } = clause;
    generator.at(expr);
    const isLast = complete && index === clauses.length - 1;
    const next = code.label();
    if (tag !== undefined && !isLast && pattern.kind === 'constructor-pattern') {
      code.if(emitter.builtin('int_eq', [tag, module.tagOf(pattern.constructor)]), next);
    }
    const block = generator.blockOf(clause.body);
    bindFields(generator, clause, { value, block });
    yield generator.block(block, destination);
    if (destination.kind !== 'return') code.goto(end);
    code.place(next);
  }
  const hasDefault = clauses.at(-1)?.pattern.kind === 'wildcard';
  if (!complete && !hasDefault) fail(generator, expr);
  code.place(end);
}

/** Reads the fields that a clause uses. */
function bindFields(
  generator: BlockEmitter,
  { pattern }: Clause,
  { value, block }: { readonly value: Operand; readonly block: Block },
): void {
  if (pattern.kind === 'wildcard') return;
  if (pattern.kind !== 'constructor-pattern') {
    throw new Error(`internal: a ${pattern.kind} after lower-match`);
  }
  for (const [index, field] of pattern.fields.entries()) {
    for (const variable of variablesOf(field)) {
      if (!block.lastUse.has(variable)) continue;
      generator.bind(variable, generator.emitter.builtin('get_field', [value, index]));
    }
  }
}

function fail(generator: BlockEmitter, expr: MatchExpr): void {
  const { emitter, module } = generator;
  generator.at(expr);
  const place = formatSpan(expr.span, 'match');
  emitter.builtin('fatal', [module.builder.string(`${place}: no clause fits the value`)]);
  // Nothing comes here, but the verifier wants every path to end.
  emitter.code.ret(emitter.code.void);
}
