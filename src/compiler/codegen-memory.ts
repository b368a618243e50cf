import type { Operand, RegisterOperand } from '../bytecode/function-builder.ts';
import { isDType } from '../core/dtype.ts';
import type { Dim } from '../core/dim.ts';
import type { Block } from './block.ts';
import type { ShapeSlots } from './codegen-shapes.ts';
import type { Emitter } from './emitter.ts';
import { type CallExpr, formatSpan } from './ir/expr.ts';
import { ALLOC_STORAGE, ALLOC_TENSOR, CALL_INTO, KILL } from './ir/machine-operators.ts';

const SESSION_DEVICE = 0;
const HOST_DEVICE = 1;

/** The number of a device in code. */
export function deviceNumber(device: unknown): number {
  return device === 'host' ? HOST_DEVICE : SESSION_DEVICE;
}

/** The storage of a call of `alloc_storage`. */
export function emitStorage(expr: CallExpr, emitter: Emitter, slots: ShapeSlots): Operand {
  const [bytes = 0] = dimsOf(expr, 'bytes');
  const device = deviceNumber(expr.attributes['device']);
  return emitter.builtin('alloc_storage', [slots.int(bytes), device]);
}

interface TensorPlace {
  readonly storage: Operand;
  readonly into: RegisterOperand | undefined;
}

/** The tensor of a call of `alloc_tensor`. */
export function emitTensor(
  expr: CallExpr,
  { storage, into }: TensorPlace,
  { emitter, slots }: { readonly emitter: Emitter; readonly slots: ShapeSlots },
): Operand {
  const { dtype } = expr.attributes;
  if (typeof dtype !== 'string' || !isDType(dtype)) throw new Error('internal: no dtype');
  const shape = slots.shapeOf(dimsOf(expr, 'shape'));
  return emitter.builtin('alloc_tensor', [storage, 0, shape, emitter.program.dtype(dtype)], into);
}

/**
 * The call whose destination is allocated from a step on, which is the first to know so: all that
 * the call has to check and to compute of dimensions comes before.
 */
export function callAfterAllocation(
  { steps, result }: Block,
  index: number,
): { readonly call: CallExpr; readonly dims: readonly Dim[]; readonly where: string } | undefined {
  const dims: Dim[] = [];
  for (let at = index; at <= steps.length; at++) {
    const value = steps[at]?.value ?? result;
    if (value.kind !== 'call' || value.callee.kind !== 'operator') return undefined;
    const { name } = value.callee;
    if (name === KILL && at > index) continue;
    if (name === ALLOC_STORAGE) dims.push(...dimsOf(value, 'bytes'));
    else if (name === ALLOC_TENSOR) dims.unshift(...dimsOf(value, 'shape'));
    else if (name !== CALL_INTO || at === index) return undefined;
    else return { call: value, dims, where: formatSpan(value.span, 'a kernel') };
  }
  return undefined;
}

function dimsOf({ attributes }: CallExpr, name: string): readonly Dim[] {
  const value = attributes[name];
  return Array.isArray(value) ? (value as readonly Dim[]) : [];
}
