import type { CallShapes } from '../../../core/contracts/call-shapes.ts';
import { isDType } from '../../../core/tensor/dtype.ts';
import type { LaunchPlan, PlannerCaps } from '../../../core/contracts/launch-plan.ts';
import type {
  PrimitiveFunction,
  OperatorCall,
} from '../../../core/contracts/primitive-function.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import { missingOperator } from '../../../ops/missing-operator.ts';
import type { OperatorTable } from '../../../ops/operator.ts';
import { elementTypeOf } from './element-type.ts';
import { partitionPrimitive } from './partition-primitive.ts';
import { planAnchorStep } from './plan-anchor-step.ts';
import { planMapStep } from './plan-map-step.ts';
import { PlanBuilder } from './plan-builder.ts';
import { readValues, takesDType, typePrimitive } from './typed-primitive.ts';
import { WGSL_KERNEL } from '../../../ops/program/wgsl-kernel.ts';

/** Planning walks along chains of calls, and takes longer than linear for anchors. */
const MAX_CALL_COUNT = 256;

interface PlanTarget {
  readonly caps: PlannerCaps;
  readonly operators: OperatorTable;
}

/**
 * How a WebGPU device runs a primitive function on given shapes. Pure: equal arguments give equal
 * plans, and shapes that differ only in sizes give equal code wherever the kernels allow.
 *
 * A primitive with one anchor becomes one launch with its elementwise neighbours fused in, or the
 * launches that the anchor's lowering asks for; one without anchors becomes one launch per result
 * shape. Anything else is cut into such steps, whose values pass through scratch buffers.
 * Throws UnsupportedError that names the kernel and what WebGPU lacks.
 */
export function plan(
  primitive: PrimitiveFunction,
  shapes: CallShapes,
  target: PlanTarget,
): LaunchPlan {
  const typed = typePrimitive(withoutAlternatives(primitive), shapes, target.operators);
  if (typed.results.every((value) => elementCount(typed.types[value]?.shape ?? []) === 0)) {
    return { launches: [], scratchByteLengths: [] };
  }
  const builder = new PlanBuilder(typed, target.caps);
  for (const step of partitionPrimitive(typed)) {
    if (step.kind === 'anchor') planAnchorStep(builder, step);
    else planMapStep(builder, step);
  }
  return builder.build();
}

/** Why a primitive cannot run on any WebGPU device; undefined when it can. Needs no shapes. */
export function supports(whole: PrimitiveFunction, operators: OperatorTable): string | undefined {
  const primitive = withoutAlternatives(whole);
  const callCount = primitive.body.length;
  if (callCount > MAX_CALL_COUNT) return `${callCount} operator calls, at most ${MAX_CALL_COUNT}`;
  const read = readValues(primitive);
  const params = primitive.params.filter((_, value) => read.has(value));
  const tensors = [...params, ...primitive.results.map(({ type }) => type)];
  for (const { dtype } of tensors) {
    if (elementTypeOf(dtype) === undefined) return `${opNames(primitive)}: no kernels for ${dtype}`;
  }
  for (const call of primitive.body) {
    const op = operators.get(call.op);
    if (op === undefined) return missingOperator(call.op);
    if (op.kind === 'opaque' || op.kind === 'dynamic') return `${call.op} runs on the host only`;
    for (const [i, input] of call.inputs.entries()) {
      const dtype = primitive.params[input]?.dtype;
      if (dtype !== undefined && !takesDType(op, i, dtype)) {
        return `${call.op}: no kernels for ${dtype}`;
      }
    }
    for (const [name, spec] of Object.entries(op.attributes)) {
      const dtype = call.attributes[name] ?? spec.default;
      if (spec.type === 'dtype' && !isKernelType(dtype)) {
        return `${call.op}: no kernels for ${typeof dtype === 'string' ? dtype : 'no dtype'}`;
      }
    }
  }
  return undefined;
}

function isKernelType(dtype: unknown): boolean {
  return typeof dtype === 'string' && isDType(dtype) && elementTypeOf(dtype) !== undefined;
}

function opNames(primitive: PrimitiveFunction): string {
  return primitive.body.map(({ op }) => op).join(', ');
}

/** The primitive as WebGPU runs it: without alternatives, and without what only they need. */
function withoutAlternatives(primitive: PrimitiveFunction): PrimitiveFunction {
  const { params, body, results } = primitive;
  if (!body.some(hasAlternative)) return primitive;
  const calls = body.map((call) => (hasAlternative(call) ? withoutAlternative(call) : call));
  const needed = new Set(results.map(({ value }) => value));
  for (let i = calls.length - 1; i >= 0; i--) {
    if (!needed.has(params.length + i)) continue;
    for (const input of calls[i]?.inputs ?? []) needed.add(input);
  }
  const kept = new Map<number, number>([[-1, -1]]);
  for (const index of params.keys()) kept.set(index, index);
  const left = calls.filter((_, i) => {
    const isNeeded = needed.has(params.length + i);
    if (isNeeded) kept.set(params.length + i, kept.size - 1);
    return isNeeded;
  });
  const place = (value: number): number => kept.get(value) ?? -1;
  return {
    ...primitive,
    body: left.map((call) => ({ ...call, inputs: call.inputs.map(place) })),
    results: results.map(({ value, type }) => ({ value: place(value), type })),
  };
}

function hasAlternative({ op, attributes }: OperatorCall): boolean {
  return op === WGSL_KERNEL && attributes['alternative'] === true;
}

function withoutAlternative({ op, inputs, attributes }: OperatorCall): OperatorCall {
  return { op, inputs: inputs.slice(0, -1), attributes: { ...attributes, alternative: false } };
}
