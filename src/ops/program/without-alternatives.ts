import type { OperatorCall, PrimitiveFunction } from '../../core/contracts/primitive-function.ts';
import { WGSL_KERNEL } from './wgsl-kernel.ts';

/** The primitive as WebGPU runs it: without alternatives, and without what only they need. */
export function withoutAlternatives(primitive: PrimitiveFunction): PrimitiveFunction {
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
