import { MakeCode, MatchCode } from '../../bytecode/builtins.ts';
import type { ShapeStep } from '../../bytecode/executable.ts';
import type {
  Operand,
  OperandLike,
  RegisterOperand,
} from '../../bytecode/build/function-builder.ts';
import { DIM_OPERATORS } from '../../core/dims/dim.ts';
import { isDType } from '../../core/tensor/dtype.ts';
import type { Emitter } from './emitter.ts';
import type { CallExpr } from '../ir/expr.ts';
import {
  ALLOC_STORAGE,
  ALLOC_TENSOR,
  APPEND,
  WHOLE,
  KILL,
  MAKE_CLOSURE,
} from '../ir/operators/machine-operators.ts';
import {
  AS_ANY,
  ASSERT,
  CALL_PACKED,
  DEVICE_COPY,
  FLOAT,
  PRINT,
  SCALAR_OPERATORS,
  STOP,
  TENSOR_OF,
} from '../ir/operators/scalar-operators.ts';
import {
  CHECK_TENSOR,
  COMPUTE_SHAPE,
  LOAD_SHAPE,
  MAKE_SHAPE,
  MATCH_SHAPE,
  SHAPE_HEAP,
  VIEW_AS,
} from '../ir/operators/shape-operators.ts';
import { VIEW_OPERATOR } from '../ir/host-values.ts';

const SESSION_DEVICE = 0;
const HOST_DEVICE = 1;

interface MachineCall {
  readonly call: CallExpr;
  readonly args: readonly Operand[];
  readonly into: RegisterOperand | undefined;
  readonly emitter: Emitter;
}

/** Emits the call of an operator outside of kernels: one instruction each. */
export function emitMachineCall(name: string, machineCall: MachineCall): Operand {
  const emit = TRANSLATIONS[name];
  if (emit !== undefined) return emit(machineCall);
  const builtin = SCALAR_OPERATORS.get(name)?.builtin;
  if (builtin === undefined) {
    throw new Error(`internal: a call of ${name} outside a primitive function`);
  }
  return machineCall.emitter.builtin(builtin, machineCall.args, machineCall.into);
}

const TRANSLATIONS: Readonly<Record<string, (machineCall: MachineCall) => Operand>> = {
  [KILL]: ({ args: [value], emitter }) => {
    if (value !== undefined) emitter.kill(value);
    return emitter.code.void;
  },
  [ALLOC_STORAGE]: ({ call, args: [size], into, emitter }) => {
    const [bytes = 0] = numbersOf(call, 'bytes');
    return emitter.builtin('alloc_storage', [size ?? bytes, deviceOf(call)], into);
  },
  [ALLOC_TENSOR]: ({ call, args: [storage, shape], into, emitter }) => {
    const sizes = shape ?? emitter.shape(numbersOf(call, 'shape'));
    const offset = Number(call.attributes['offset'] ?? 0);
    const operands = [storage ?? emitter.code.void, offset, sizes, dtypeOf(call, emitter)];
    return emitter.builtin('alloc_tensor', operands, into);
  },
  [APPEND]: ({ call, args: [first = 0, ...parts], into, emitter }) =>
    emitter.builtin('append', [first, Number(call.attributes['axis']), ...parts], into),
  [WHOLE]: ({ call, args: [tensor = 0], into, emitter }) =>
    emitter.builtin('whole', [tensor, Number(call.attributes['axis'])], into),
  [MAKE_CLOSURE]: ({ args, into, emitter }) => {
    const [fn = emitter.code.void] = args;
    // A function that captures nothing needs no closure.
    if (args.length > 1) return emitter.builtin('make_closure', args, into);
    return into === undefined ? fn : emitter.builtin('move', args, into);
  },
  [DEVICE_COPY]: ({ call, args, into, emitter }) =>
    emitter.builtin('to_device', [...args, deviceOf(call)], into),
  [AS_ANY]: ({ args, into, emitter }) => emitter.builtin('move', args, into),
  [STOP]: ({ call, into, emitter }) => {
    emitter.builtin('fatal', [emitter.program.string(textOf(call, 'message'))]);
    // Nothing comes here, but the verifier wants every path to end.
    emitter.code.ret(emitter.code.void);
    return into ?? emitter.code.void;
  },
  [FLOAT]: ({ call, into, emitter }) => {
    const value = emitter.program.float(Number(call.attributes['value']));
    // Operands of calls that want a float may be constants.
    return into === undefined ? value : emitter.builtin('move', [value], into);
  },
  [TENSOR_OF]: ({ call, args, into, emitter }) =>
    emitter.builtin('make_tensor', [dtypeOf(call, emitter), SESSION_DEVICE, ...args], into),
  [CALL_PACKED]: ({ call, args, into, emitter }) =>
    emitter.code.call(textOf(call, 'name'), args, into === undefined ? {} : { into }),
  [PRINT]: ({ call, args, into, emitter }) => {
    const message = textOf(call, 'message');
    const texts = message === '' ? [] : [emitter.program.string(message)];
    emitter.builtin('print', [...texts, ...args]);
    return emitter.builtin('make_tuple', [], into);
  },
  [ASSERT]: ({ call, args, into, emitter }) => {
    emitter.builtin('assert', [...args, emitter.program.string(textOf(call, 'message'))]);
    return emitter.builtin('make_tuple', [], into);
  },
  [VIEW_OPERATOR]: ({ call, args, into, emitter }) =>
    emitter.builtin('reshape', [...args, emitter.shape(numbersOf(call, 'shape'))], into),
  [VIEW_AS]: ({ args, into, emitter }) => emitter.builtin('reshape', args, into),
  [SHAPE_HEAP]: ({ call, into, emitter }) =>
    emitter.builtin('alloc_shape_heap', [Number(call.attributes['slots'])], into),
  [CHECK_TENSOR]: ({ call, args, emitter }) => {
    const operands = [...args, Number(call.attributes['rank']), dtypeOf(call, emitter)];
    return emitter.builtin('check_tensor_info', [...operands, contextOf(call, emitter)]);
  },
  [MATCH_SHAPE]: ({ call, args, emitter }) => {
    const dims = textsOf(call, 'dims');
    const pairs = dims.flatMap(matchPair);
    const operands = [...args, dims.length, ...pairs, contextOf(call, emitter)];
    return emitter.builtin('match_shape', operands);
  },
  [COMPUTE_SHAPE]: ({ call, args, emitter }) => {
    const steps = textsOf(call, 'program').map(shapeStep);
    return emitter.builtin('compute_shape', [...args, emitter.shapeProgram(steps)]);
  },
  [MAKE_SHAPE]: ({ call, args, into, emitter }) => {
    const dims = textsOf(call, 'dims');
    return emitter.builtin('make_shape', [...args, dims.length, ...dims.flatMap(makePair)], into);
  },
  [LOAD_SHAPE]: ({ call, args, into, emitter }) =>
    emitter.builtin('load_shape', [...args, Number(call.attributes['slot'])], into),
};

function matchPair(text: string): readonly [number, number] {
  const [word = '', slot] = text.split(' ');
  if (word === 'any') return [MatchCode.ignore, 0];
  if (word === 'store') return [MatchCode.store, Number(slot)];
  if (word === 'slot') return [MatchCode.assertSlot, Number(slot)];
  return [MatchCode.assertImmediate, Number(word)];
}

function makePair(text: string): readonly [number, number] {
  const [word = '', slot] = text.split(' ');
  return word === 'slot' ? [MakeCode.slot, Number(slot)] : [MakeCode.immediate, Number(word)];
}

function shapeStep(text: string): ShapeStep {
  const [word = '', operand] = text.split(' ');
  if (word === 'const') return { op: word, value: Number(operand) };
  if (word === 'load' || word === 'store') return { op: word, slot: Number(operand) };
  const op = DIM_OPERATORS.find((known) => known === word);
  if (op === undefined) throw new Error(`internal: a shape program with ${text}`);
  return { op };
}

function deviceOf({ attributes }: CallExpr): number {
  return attributes['device'] === 'host' ? HOST_DEVICE : SESSION_DEVICE;
}

function contextOf(call: CallExpr, emitter: Emitter): OperandLike {
  return emitter.program.string(textOf(call, 'context'));
}

function textOf({ attributes }: CallExpr, name: string): string {
  const value = attributes[name];
  return typeof value === 'string' ? value : '';
}

function dtypeOf({ attributes: { dtype } }: CallExpr, emitter: Emitter): OperandLike {
  if (typeof dtype !== 'string' || !isDType(dtype)) throw new Error('internal: no dtype');
  return emitter.program.dtype(dtype);
}

function textsOf({ attributes }: CallExpr, name: string): readonly string[] {
  const value = attributes[name];
  return Array.isArray(value) ? value.map(String) : [];
}

/** The sizes of an attribute, which `lower-shapes` leaves where they are numbers. */
function numbersOf({ attributes }: CallExpr, name: string): readonly number[] {
  const value = attributes[name];
  return Array.isArray(value) ? value.map(Number) : [];
}
