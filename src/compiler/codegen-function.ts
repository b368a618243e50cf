import type { Operand, RegisterOperand } from '../bytecode/function-builder.ts';
import { type Block, destinationOf } from './block.ts';
import { asRegister, Emitter } from './emitter.ts';
import { callAfterAllocation, deviceNumber, emitStorage, emitTensor } from './codegen-memory.ts';
import { ShapeSlots } from './codegen-shapes.ts';
import { type BlockEmitter, type Destination, emitMatch } from './codegen-match.ts';
import type { FunctionSource, ModuleContext } from './module-context.ts';
import {
  type CallExpr,
  type Expr,
  formatSpan,
  type FunctionExpr,
  type IfExpr,
  type MatchExpr,
  type VarExpr,
} from './ir/expr.ts';
import { isAtom } from './ir/atoms.ts';
import {
  ALLOC_STORAGE,
  ALLOC_TENSOR,
  CALL_INTO,
  KILL,
  MAKE_CLOSURE,
} from './ir/machine-operators.ts';
import { DEVICE_COPY, SCALAR_OPERATORS } from './ir/scalar-operators.ts';
import { runTask, type Task } from './ir/task.ts';
import type { Type } from './ir/type.ts';
import { VIEW_OPERATOR } from './passes/host-values.ts';
import { ShapeBounds } from './shape-bounds.ts';
import { ShapeBinder } from './shape-binder.ts';
import { ShapeNeeds, tensorTypesOf } from './shape-needs.ts';

const NO_VARIABLES: ReadonlySet<VarExpr> = new Set();

const RETURN: Destination = { kind: 'return' };

/**
 * Emits one function in A-normal form. Every variable has a register. Values are immutable and counted by reference, and a kernel writes only to tensors
 * that were allocated for its results; so any two values may share a storage, and parameters and
 * constants may be returned as they are.
 */
export class FunctionGenerator implements BlockEmitter {
  readonly emitter: Emitter;
  readonly slots: ShapeSlots;
  readonly module: ModuleContext;
  readonly #source: FunctionSource;
  readonly #binder: ShapeBinder;
  readonly #shapes: ShapeNeeds;
  readonly #operands = new Map<VarExpr, Operand>();
  /** Calls whose checks were emitted. */
  readonly #checked = new Set<CallExpr>();

  constructor(module: ModuleContext, source: FunctionSource) {
    const { fn } = source;
    this.module = module;
    this.#source = source;
    const names = uniqueNames(fn.params.map((param) => param.name));
    const options = source.signature === undefined ? {} : { signature: source.signature };
    const code = module.builder.function(source.name, names, options);
    this.emitter = new Emitter(module.builder, code, module.shapePrograms);
    this.slots = new ShapeSlots(this.emitter);
    this.#binder = new ShapeBinder(this.emitter, this.slots);
    this.#shapes = new ShapeNeeds(module.types, source.blocks);
    for (const [i, param] of fn.params.entries()) this.#operands.set(param, code.r(i));
  }

  generate(): void {
    const { fn, blocks, signature } = this.#source;
    this.#declareShapes();
    const isChecked = signature !== undefined;
    const bounds = isChecked ? new ShapeBounds(fn) : undefined;
    bounds?.declare(this.slots);
    this.slots.begin(isChecked && tensorTypesOf(fn.params).length > 0);
    for (const param of fn.params) this.#bindParam(param, isChecked);
    bounds?.emit(this.emitter, this.slots, (param) => this.operand(param));
    if (isChecked) this.slots.endChecks();
    runTask(this.block(blocks.of(fn.body), RETURN));
  }

  /** Emits a block. */
  *block(block: Block, destination: Destination): Task<void> {
    const { steps, result } = block;
    // What the block gives is in its place from the begin.
    const targets = destination.kind === 'return' ? NO_VARIABLES : targetsOf(block);
    for (const [index, { variable, value }] of steps.entries()) {
      const into = targets.has(variable) && destination.kind !== 'return' ? destination : undefined;
      if (isBranching(value)) {
        const register = into ?? this.emitter.code.fresh();
        this.#operands.set(variable, register);
        yield this.#branches(value, register);
      } else if (this.#source.blocks.primitive(variable) === undefined) {
        this.#beforeCall(block, index);
        this.#operands.set(variable, this.#value(value, into));
      }
      this.#learnSymbols(variable);
    }
    if (isBranching(result)) yield this.#branches(result, destination);
    else if (destination.kind === 'return') {
      this.emitter.code.ret(isAtom(result) ? this.operand(result) : this.#value(result));
    } else if (result.kind !== 'var' || !targets.has(result)) this.#value(result, destination);
  }

  /** The operand for an atom. */
  operand(expr: Expr): Operand {
    switch (expr.kind) {
      case 'constant':
        return this.module.builder.tensor(expr.value);
      case 'int':
        return this.emitter.code.imm(expr.value);
      case 'global':
        return this.module.builder.functionReference(expr.name);
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

  /** Binds a variable of a pattern to the register that holds its value. */
  bind(variable: VarExpr, operand: Operand): void {
    this.#operands.set(variable, operand);
    this.#learnSymbols(variable);
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
    const known = this.slots.save();
    yield this.block(this.blockOf(expr.thenBranch), destination);
    this.slots.restore(known);
    if (destination.kind !== 'return') code.goto(end);
    code.place(otherwise);
    yield this.block(this.blockOf(expr.elseBranch), destination);
    this.slots.restore(known);
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
    this.#emitChecks(expr);
    const primitive = this.#source.blocks.primitive(callee);
    if (primitive !== undefined) return this.#kernel(expr, primitive, into);
    if (callee.kind === 'operator') return this.#operator(expr, callee.name, into);
    const args = this.#operandsOf(expr.args);
    const options = into === undefined ? {} : { into };
    if (callee.kind === 'global') return this.emitter.code.call(callee.name, args, options);
    if (callee.kind === 'constructor') {
      return this.emitter.builtin('make_adt', [this.module.tagOf(callee.name), ...args], into);
    }
    return this.emitter.builtin('invoke_closure', [this.operand(callee), ...args], into);
  }

  #operator(expr: CallExpr, name: string, into?: RegisterOperand): Operand {
    if (name === ALLOC_STORAGE) return emitStorage(expr, this.emitter, this.slots);
    if (name === CALL_INTO) return this.#callInto(expr);
    const args = this.#operandsOf(expr.args);
    const [first] = args;
    if (name === KILL && first !== undefined) {
      this.emitter.kill(first);
      return this.emitter.code.void;
    }
    if (name === ALLOC_TENSOR && first !== undefined) {
      return emitTensor(expr, { storage: first, into }, this);
    }
    if (name === MAKE_CLOSURE && first !== undefined) {
      // A function that captures nothing needs no closure.
      if (args.length > 1) return this.emitter.builtin('make_closure', args, into);
      return into === undefined ? first : this.emitter.builtin('move', args, into);
    }
    const scalar = SCALAR_OPERATORS.get(name);
    if (scalar?.builtin !== undefined) return this.emitter.builtin(scalar.builtin, args, into);
    if (name === DEVICE_COPY) {
      const device = deviceNumber(expr.attributes['device']);
      return this.emitter.builtin('to_device', [...args, device], into);
    }
    if (scalar !== undefined) return this.#dimension(expr, into);
    if (name === VIEW_OPERATOR) {
      const { shape } = this.#shapes.tensorType(expr);
      const place = formatSpan(expr.span, name);
      return this.emitter.builtin('reshape', [...args, this.slots.shapeOf(shape, place)], into);
    }
    throw new Error(`internal: a call of ${name} outside a primitive function`);
  }

  #dimension(expr: CallExpr, into?: RegisterOperand): Operand {
    const [tensor] = expr.args;
    const axis = Number(expr.attributes['axis']);
    const type = tensor === undefined ? undefined : this.typeOf(tensor);
    const dim = type?.kind === 'tensor' ? type.shape.at(axis) : undefined;
    if (dim === undefined) throw new Error('internal: dim of what is no tensor with that axis');
    const value = this.slots.int(dim, into);
    if (typeof value !== 'number') return value;
    const immediate = this.emitter.code.imm(value);
    return into === undefined ? immediate : this.emitter.builtin('move', [immediate], into);
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

  /** Reserves slots for every dimension that the function computes with. */
  #declareShapes(): void {
    const { fn } = this.#source;
    for (const type of tensorTypesOf(fn.params)) this.slots.declare(type);
    for (const type of this.#shapes.computedIn(fn)) this.slots.declare(type);
  }

  /** Checks and dimensions of a kernel's call, before the first allocation for it. */
  #beforeCall(block: Block, index: number): void {
    const next = callAfterAllocation(block, index);
    if (next === undefined || this.#checked.has(next.call)) return;
    this.#emitChecks(next.call);
    this.slots.compute(next.dims, next.where);
  }

  #emitChecks(call: CallExpr): void {
    if (this.#checked.has(call)) return;
    this.#checked.add(call);
    for (const { left, right, message } of this.#shapes.checksOf(call)) {
      const context =
        call.span === undefined ? message : `${formatSpan(call.span, '')}: ${message}`;
      this.slots.requireEqual(left, right, this.module.builder.string(context));
    }
  }

  /** Checks a parameter, and learns the symbols in its type. */
  #bindParam(param: VarExpr, isChecked: boolean): void {
    const where = `input "${param.name}"`;
    if (param.type !== undefined)
      this.#binder.bind(this.operand(param), param.type, { isChecked, where });
  }

  /** Learns the symbols that the type of a variable mentions for the first time. */
  #learnSymbols(variable: VarExpr): void {
    const { name, type, span } = variable;
    const operand = this.#operands.get(variable);
    if (operand === undefined || type === undefined || !this.#binder.isNew(type)) return;
    this.#binder.bind(operand, type, { isChecked: false, where: formatSpan(span, `%${name}`) });
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
